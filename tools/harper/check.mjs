// Reads {dialect, words, off, texts} as JSON from standard input; prints, for each text, what Harper finds in it.
import { readFileSync } from "node:fs";
import { Dialect, LocalLinter } from "harper.js";
import { binaryInlined } from "harper.js/binaryInlined";

const { dialect, words, off, texts } = JSON.parse(readFileSync(0, "utf8"));
const linter = new LocalLinter({ binary: binaryInlined, dialect: Dialect[dialect] });
const rules = await linter.getDefaultLintConfig();
const unknown = off.filter((name) => !(name in rules));
if (unknown.length) {
  console.error(`Harper has no rule ${unknown.join(", ")}`);
  process.exit(2);
}
await linter.setLintConfig({ ...rules, ...Object.fromEntries(off.map((name) => [name, false])) });
await linter.importWords(words);

// Some texts at a time are one document: a call for each would take half as long again.
const TOGETHER = 50;
const BETWEEN = "\n\n";
const found = texts.map(() => []);
for (let first = 0; first < texts.length; first += TOGETHER) {
  const some = texts.slice(first, first + TOGETHER);
  const starts = [];
  let length = 0;
  for (const text of some) {
    starts.push(length);
    length += [...text].length + BETWEEN.length;
  }
  for (const [rule, lints] of Object.entries(await linter.organizedLints(some.join(BETWEEN)))) {
    for (const lint of lints) {
      const { start } = lint.span();
      const which = starts.findLastIndex((each) => each <= start);
      found[first + which].push([
        rule,
        start - starts[which],
        lint.get_problem_text(),
        lint.message(),
        lint.suggestions().map((each) => each.get_replacement_text()),
      ]);
    }
  }
}
process.stdout.write(JSON.stringify(found));
