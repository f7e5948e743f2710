// Opens pages of reports in Chromium, each from its file, and prints as JSON what is wrong with each.
// node report_pages.mjs CHROMIUM PROFILE_DIR < [FILE...]
// Each is shown light and dark at both widths, and as it is printed: nothing may be asked for over a network, said on
// the console, wider than the window, or found by axe-core.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [executablePath, profile] = process.argv.slice(2);
const files = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const views = [[390, "light"], [390, "dark"], [1280, "light"], [1280, "dark"]];

async function problems(page, file) {
  const found = [];
  for (const [at, [width, colorScheme]] of views.entries()) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, media: "screen" });
    if (at === 0) {
      await page.goto(`file://${file}`, { waitUntil: "load" });
      await page.evaluate(axe);
    }
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (excess > 0) found.push(`${width} px: ${excess} px too wide`);
    // The width changes no color, and the scheme nothing else.
    if (width > views[0][0]) continue;
    const options = { resultTypes: ["violations"], ...(at === 0 ? {} : { runOnly: ["color-contrast"] }) };
    const { violations } = await page.evaluate((options) => axe.run(document, options), options);
    found.push(...violations.map((each) => `${width} px, ${colorScheme}: ${each.id}: ${each.nodes[0].html}`));
  }
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (paper !== "rgb(255, 255, 255)") found.push(`printed on ${paper}`);
  if (await page.evaluate(() => window.hostile !== undefined)) found.push("a script has run");
  return found;
}

const context = await chromium.launchPersistentContext(profile, { executablePath, args, headless: true });
context.setDefaultTimeout(600000);
const page = await context.newPage();
const report = {};
for (const file of files) {
  const found = [];
  const onConsole = (message) => found.push(`console: ${message.text()}`);
  const onError = (error) => found.push(`error: ${error.message}`);
  const onRequest = (request) => request.url() === `file://${file}` || request.url() === "data:,"
    || found.push(`request: ${request.url()}`);
  page.on("console", onConsole).on("pageerror", onError).on("request", onRequest);
  found.push(...await problems(page, file));
  page.off("console", onConsole).off("pageerror", onError).off("request", onRequest);
  report[file] = [...new Set(found)];
}
await context.close();
console.log(JSON.stringify(report));
