// Names that the pages' scripts use but do not define, or import but do not use. A browser notices the former only when
// the code runs. The arguments are the scripts.
import { readFileSync } from "node:fs";
import { Linter } from "eslint";
import globals from "globals";

const config = [
  {
    languageOptions: { globals: globals.browser },
    rules: { "no-undef": "error", "no-unused-vars": "error" },
  },
];
const linter = new Linter();
for (const file of process.argv.slice(2)) {
  for (const { line, message } of linter.verify(readFileSync(file, "utf8"), config)) {
    console.log(`${file}:${line}: ${message}`);
    process.exitCode = 1;
  }
}
