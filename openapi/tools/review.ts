import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { allDocumentNames, bundleFolder } from "./document.ts";

// Runs OWASP's ruleset on the contracts and writes what was judged of its findings into docs/contract-review.md.

const root = join(import.meta.dirname, "../..");
const ruleset = "node_modules/@stoplight/spectral-owasp-ruleset/dist/ruleset.mjs";
const judgementsFile = "openapi/rules/owasp.yaml";
const page = "docs/contract-review.md";
const table = /(?<=<!-- owasp -->\n)[^]*(?=<!-- \/owasp -->)/;

const judgements = z.array(
  z.strictObject({ rules: z.array(z.string()).min(1), isRight: z.boolean().optional(), judgement: z.string() }),
);
type Finding = { rule: string; document: string; place: string };

function findAll(): Finding[] {
  const files = allDocumentNames(bundleFolder).map((name) => join(bundleFolder, `${name}.yaml`));
  const args = ["lint", ...files, "--ruleset", join(root, ruleset), "--format", "json", "--quiet"];
  const options = { maxBuffer: 1 << 28, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/spectral"), args, options);
  // It ends with 1 where it finds anything.
  if (status !== 0 && status !== 1) throw new Error(stderr);
  const found = JSON.parse(stdout) as { code: string; source: string; path: (string | number)[] }[];
  return found.map(({ code, source, path }) => ({
    rule: code.replace(/^owasp:api\d+:\d+-/, "").replace(/-legacy$/, ""),
    document: basename(source, ".yaml"),
    place: path.join("."),
  }));
}

/** The table, and what no judgement covers. */
export function judge(text: string, findings: readonly Finding[]): { table: string; faults: string[] } {
  const judged = judgements.parse(parse(text));
  const known = new Set(judged.flatMap(({ rules }) => rules));
  const right = new Set(judged.flatMap(({ rules, isRight }) => (isRight ? rules : [])));
  const unjudged = [...new Set(findings.map(({ rule }) => rule))].filter((rule) => !known.has(rule));
  const rows = judged.map(({ rules, judgement }) => {
    const found = findings.filter(({ rule }) => rules.includes(rule)).map(({ document }) => document);
    const documents = [...new Set(found)].toSorted().join(", ") || "none";
    return `| ${rules.map((rule) => `\`${rule}\``).join(", ")} | ${documents} | ${judgement} |\n`;
  });
  return {
    table: `\n| Rules | Contracts with findings | Judgement |\n|---|---|---|\n${rows.join("")}\n`,
    faults: [
      ...unjudged.map((rule) => `${judgementsFile} judges no ${rule}`),
      ...findings
        .filter(({ rule }) => right.has(rule))
        .map(({ rule, document, place }) => `${document}.yaml, ${place}: ${rule}, which ${judgementsFile} calls right`),
    ],
  };
}

if (import.meta.main) {
  const { table: written, faults } = judge(readFileSync(join(root, judgementsFile), "utf8"), findAll());
  const before = readFileSync(join(root, page), "utf8");
  const after = before.replace(table, () => written);
  if (!process.argv.includes("--check")) writeFileSync(join(root, page), after);
  else if (after !== before) faults.push(`${page} is not what the run finds: npm run docs:review`);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
