import chapters from "./expectations.json" with { type: "json" };

type Chapters = typeof chapters;
export type ExpectationId = { [Name in keyof Chapters]: keyof Chapters[Name] }[keyof Chapters];

/** What is expected of a provider; the numbers are those of docs/check-schulconnex.md. */
export const expectations = Object.values(chapters).flatMap((sentences, at) =>
  Object.entries(sentences).map(([id, sentence], place) => {
    return { id: id as ExpectationId, number: `${at + 1}.${place + 1}`, sentence };
  }),
);

/** The table of the documentation. */
export function makeExpectationTable(): string {
  const rows = expectations.map(({ number, id, sentence }) => `| ${number} | \`${id}\` | ${sentence} |`);
  return ["| | Check | What is expected |", "|---|---|---|", ...rows].join("\n");
}
