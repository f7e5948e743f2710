// Opens pages of the site in Chromium and prints, as JSON, what is wrong with each.
// node browser.mjs BASE_URL CHROMIUM PROFILE_DIR < {"opened": [PAGE...], "audited": [PAGE...], "views": [[WIDTH, SCHEME]...]}
// Each page is loaded once and shown at every width; audited pages are shown in every view, and axe-core is run in each.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, executablePath, profile] = process.argv.slice(2);
const { opened, audited, views } = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const schemes = { light: "default", dark: "slate" };

async function tooWide(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

async function serious(page) {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html).join(" ; ")}`);
}

// What is wrong, with what a page says on the console and loads from elsewhere meanwhile.
async function watched(page, look) {
  const found = [];
  const said = (message) => found.push(message);
  const onConsole = (message) => ["error", "warning"].includes(message.type()) && said(`console: ${message.text()}`);
  const onError = (error) => said(`error: ${error.message}`);
  const onRequest = (request) => /^https?:/.test(request.url()) && !request.url().startsWith(base)
    && said(`request: ${request.url()}`);
  page.on("console", onConsole).on("pageerror", onError).on("request", onRequest);
  found.push(...await look(page));
  page.off("console", onConsole).off("pageerror", onError).off("request", onRequest);
  return [...new Set(found)];
}

// Colors change no width: a page that axe-core does not read is shown in light only.
async function problems(page, path, audit) {
  const found = [];
  for (const [at, [width, scheme]] of views.filter(([, scheme]) => audit || scheme === "light").entries()) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    if (at === 0) await page.goto(base + path, { waitUntil: "load" });
    if (at === 0 && audit) await page.evaluate(axe);
    await page.waitForFunction((name) => document.body.dataset.mdColorScheme === name, schemes[scheme]);
    const excess = await tooWide(page);
    if (excess > 0) found.push(`${width} px: ${excess} px too wide`);
    if (audit) found.push(...(await serious(page)).map((text) => `${width} px, ${scheme}: ${text}`));
  }
  return found;
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
const report = { "filter of rules": await watched(page, filtered), search: await watched(page, searched) };
// The index of the search is a third of what a page costs, and has been loaded once.
await context.addInitScript(() => {
  window.Worker = class extends EventTarget { postMessage() {} terminate() {} };
});
const rest = [...opened];
const tab = async (page) => {
  for (let path = rest.shift(); path; path = rest.shift()) {
    report[path] = await watched(page, () => problems(page, path, audited.includes(path)));
  }
};
await Promise.all([tab(page), tab(await context.newPage())]);
await context.close();
console.log(JSON.stringify(report));
