// Opens pages of the site in Chromium and prints, as JSON, what is wrong with each.
// node browser.mjs BASE_URL CHROMIUM PROFILE_DIR
//   < {"opened": [PAGE...], "audited": [PAGE...], "views": [[WIDTH, SCHEME]...], "thorough": BOOLEAN}
// Pages are shown at every width, in frames beside each other. Audited pages are shown by themselves in every view, and
// axe-core is run in each: where it is not to be thorough, pages but the first are shown in every second view in turn,
// colors are read of some elements of each look, and dark views are read for colors only, but for the first of the pages.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, executablePath, profile] = process.argv.slice(2);
const { opened, audited, views, thorough } = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const colors = ["color-contrast", "link-in-text-block"];
const atOnce = 20;
const schemes = { light: "default", dark: "slate" };

async function tooWide(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

// Marks the first and the last element of each look: whether text can be read follows from the style of its element and
// of all that this lies in, which is the same in every row of a table.
function markLooks() {
  const keys = [
    "color", "backgroundColor", "backgroundImage", "fontSize", "fontWeight", "opacity", "textDecorationLine",
    "textShadow", "visibility", "display", "position", "filter", "mixBlendMode",
  ];
  const known = new Map();
  const numbers = new Map();
  const ends = new Map();
  for (const element of document.querySelectorAll("body, body *")) {
    element.removeAttribute("data-look");
    const style = getComputedStyle(element);
    const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const look = [
      numbers.get(element.parentElement), element.localName, element.className, text, element.checkVisibility(),
      ...keys.map((key) => style[key]),
    ].join("\0");
    if (!known.has(look)) known.set(look, known.size);
    numbers.set(element, known.get(look));
    ends.set(look, [ends.get(look)?.[0] ?? element, element]);
  }
  for (const element of [...ends.values()].flat()) element.setAttribute("data-look", "");
}

async function serious(page, onlyColors) {
  if (!thorough) await page.evaluate(markLooks);
  const options = { resultTypes: ["violations"], ...(onlyColors ? { runOnly: colors } : {}) };
  const { violations } = await page.evaluate((options) => axe.run(document, options), options);
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

async function problems(page, path) {
  const found = [];
  const all = thorough || path === audited[0];
  const turn = audited.indexOf(path) % 2;
  const looks = views.filter((_, at) => all || ((at ^ (at >> 1)) & 1) === turn);
  for (const [at, [width, scheme]] of looks.entries()) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    if (at === 0) {
      await page.goto(base + path, { waitUntil: "load" });
      await page.evaluate(axe);
      if (!thorough) {
        await page.evaluate(() => axe.configure({ rules: [
          { id: "color-contrast", selector: "[data-look]" },
          { id: "link-in-text-block", selector: ":is(a[href], [role=link])[data-look]" },
        ] }));
      }
    }
    await page.waitForFunction((name) => document.body.dataset.mdColorScheme === name, schemes[scheme]);
    const excess = await tooWide(page);
    if (excess > 0) found.push(`${width} px: ${excess} px too wide`);
    const onlyColors = !thorough && scheme === "dark" && path !== audited[0];
    found.push(...(await serious(page, onlyColors)).map((text) => `${width} px, ${scheme}: ${text}`));
  }
  return found;
}

// Shows pages in frames beside each other, at every width: what each has that is too wide. Colors change no width.
async function shown(page, paths) {
  const widths = [...new Set(views.map(([width]) => width))];
  return page.evaluate(async ([urls, widths, light]) => {
    const frames = urls.map((url) => Object.assign(document.createElement("iframe"), { src: url, scrolling: "no" }));
    const loaded = frames.map((frame) => new Promise((done) => { frame.onload = done; }));
    for (const frame of frames) frame.style.cssText = `border: 0; width: ${widths[0]}px; height: 900px`;
    document.body.replaceChildren(...frames);
    await Promise.all(loaded);
    const found = frames.map(({ contentDocument: { body } }) => (body.dataset.mdColorScheme === light ? [] : ["not light"]));
    for (const width of widths) {
      for (const frame of frames) frame.style.width = `${width}px`;
      frames.forEach(({ contentDocument: { documentElement: root } }, at) => {
        if (root.clientWidth !== width) found[at].push(`${width} px: shown at ${root.clientWidth} px`);
        const excess = root.scrollWidth - root.clientWidth;
        if (excess > 0) found[at].push(`${width} px: ${excess} px too wide`);
      });
    }
    return found;
  }, [paths.map((path) => base + path), widths, schemes.light]);
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
  for (let tries = 0; tries < 1200 && !(await field.isVisible()); tries += 1) {
    await page.keyboard.press("Control+k");
    await page.waitForTimeout(500);
  }
  await field.fill("watchdog-missing");
  const hit = page.locator("[role=listbox]").getByText("WD001").first();
  return hit.waitFor().then(() => [], (error) => [error.message]);
}

const context = await chromium.launchPersistentContext(profile, { executablePath, args, headless: true });
// Nothing here is about how fast a machine is.
context.setDefaultTimeout(600000);
const page = await context.newPage();
const report = { "filter of rules": await watched(page, filtered), search: await watched(page, searched) };
// The index of the search is a third of what a page costs, and has been loaded once.
await context.addInitScript(() => {
  window.Worker = class extends EventTarget { postMessage() {} terminate() {} };
});
for (const path of audited) report[path] = await watched(page, () => problems(page, path));
await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
await page.setViewportSize({ width: 100, height: 100 });
// A page of the same origin without a script of its own, which would not find again what it began with.
const body = "<!doctype html><title>frames</title><link rel=icon href='data:,'>";
await page.route(`${base}frames`, (route) => route.fulfill({ contentType: "text/html", body }));
await page.goto(`${base}frames`);
await page.unroute(`${base}frames`);
const rest = opened.filter((path) => !audited.includes(path));
while (rest.length > 0) {
  const paths = rest.splice(0, atOnce);
  let found = [];
  // What is said on the console may be of any of them.
  const said = await watched(page, async () => { found = await shown(page, paths); return []; });
  for (const [at, path] of paths.entries()) report[path] = [...found[at], ...said];
}
await context.close();
console.log(JSON.stringify(report));
