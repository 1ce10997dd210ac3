import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = join(import.meta.dirname, "../../docs/design/four-changes.md");

export type Step = {
  /** The title of the change to which it belongs. */
  task: string;
  file: string;
  /** What is replaced by what; a new file replaces "". */
  edits: { before: string; after: string }[];
  /** What is said of a project without the step. */
  without: { gate: string; at: string | null; message: string };
};

/** The steps of docs/design/four-changes.md, in their order. */
export const steps: Step[] = readFileSync(page, "utf8")
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => readSteps(section.split("\n", 1)[0]!, section));

function readSteps(task: string, section: string): Step[] {
  const block =
    /^```diff\n--- (\S+)\n([^]*?)^```\n+(?:Without it, \*\*([\w ]+)\*\* says(?: in `([^`]+)`)?: `([^`]+)`)?/gm;
  return [...section.matchAll(block)].map(([, file, hunks, gate, at, message]) => {
    if (gate === undefined) throw new Error(`${task}: ${file!} lacks the line that says what is said without it`);
    return {
      task,
      file: file!,
      edits: hunks!.split("@@\n").map(readEdit),
      without: { gate, at: at ?? null, message: message! },
    };
  });
}

function readEdit(hunk: string): { before: string; after: string } {
  const lines = hunk.trimEnd().split("\n");
  const textOf = (marks: string) =>
    lines
      .filter((line) => marks.includes(line.slice(0, 1)))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  return { before: textOf(" -"), after: textOf(" +") };
}

/** The text of a file with a step made in it. Errors: throws if the file lacks a line of the step. */
export function makeStep({ file, edits }: Step, text: string): string {
  return edits.reduce((all, { before, after }) => {
    if (!all.includes(before)) throw new Error(`docs/design/four-changes.md: ${file} has no\n${before}`);
    return all.replace(before, () => after);
  }, text);
}
