// Opens pages of the site in Chromium and prints, as JSON, what is wrong with each.
// node browser.mjs BASE_URL CHROMIUM PROFILE_DIR < {"audited": [PAGE...], "opened": [PAGE...]}
// Audited pages are opened twice, and axe-core is run on them; others are opened at the smaller width only.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, executablePath, profile] = process.argv.slice(2);
const { audited, opened } = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const widths = [400, 1280];
const schemes = ["light", "dark"];

async function tooWide(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

async function serious(page) {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html).join(" ; ")}`);
}

async function problems(page, path, audit) {
  const found = [];
  const said = (message) => found.push(message);
  const onConsole = (message) => ["error", "warning"].includes(message.type()) && said(`console: ${message.text()}`);
  const onError = (error) => said(`error: ${error.message}`);
  const onRequest = (request) => /^https?:/.test(request.url()) && !request.url().startsWith(base)
    && said(`request: ${request.url()}`);
  page.on("console", onConsole).on("pageerror", onError).on("request", onRequest);
  for (const [at, width] of widths.slice(0, audit ? 2 : 1).entries()) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: schemes[at], reducedMotion: "reduce" });
    await page.goto(base + path, { waitUntil: "load" });
    const excess = await tooWide(page);
    if (excess > 0) said(`${width} px: ${excess} px too wide`);
    if (!audit) continue;
    await page.evaluate(axe);
    found.push(...(await serious(page)).map((text) => `${width} px, ${schemes[at]}: ${text}`));
  }
  page.off("console", onConsole).off("pageerror", onError).off("request", onRequest);
  return [...new Set(found)];
}

// The filter of rules keeps the rows with every word, and the search finds a page.
async function filtered(page) {
  await page.goto(`${base}rules/index.html`, { waitUntil: "load" });
  await page.fill(".rule-filter input", "watchdog-missing");
  const rows = await page.locator("article tbody tr:visible").allInnerTexts();
  return rows.length === 1 && rows[0].includes("WD001") ? [] : [`${rows.length} rows: ${rows.slice(0, 3)}`];
}

async function searched(page) {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${base}index.html`, { waitUntil: "load" });
  const field = page.locator("input[role=combobox]");
  for (let tries = 0; tries < 30 && !(await field.isVisible()); tries += 1) {
    await page.keyboard.press("Control+k");
    await page.waitForTimeout(500);
  }
  await field.fill("watchdog-missing");
  const hit = page.locator("[role=listbox]").getByText("WD001").first();
  return hit.waitFor({ timeout: 30000 }).then(() => [], (error) => [error.message]);
}

const context = await chromium.launchPersistentContext(profile, { executablePath, args, headless: true });
const page = await context.newPage();
const report = {};
const rest = [...audited.map((path) => [path, true]), ...opened.map((path) => [path, false])];
const tab = async (page) => {
  for (let next = rest.shift(); next; next = rest.shift()) report[next[0]] = await problems(page, ...next);
};
await Promise.all([tab(page), tab(await context.newPage())]);
report["filter of rules"] = await filtered(page);
report.search = await searched(page);
await context.close();
console.log(JSON.stringify(report));
