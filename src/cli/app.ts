import { adviseSignOn, signOnAdviceTexts, signOnDocs } from "../platform/advice/sign-on/index.ts";
import { isEmpty, type Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { recordLines } from "./lines.ts";
import { readKeyFile } from "./files.ts";

type SignOnAttempt = Schemas["SignOnAttempt"];

type Keys = { publicKeys?: string; jwksUri?: string };

/** Reads the file with the keys of an app. Its own address for them replaces them, and the other way round. */
async function readKeys({ publicKeys: file, jwksUri, ...body }: Keys): Promise<Record<string, unknown>> {
  if (file !== undefined) return { ...body, publicKeys: await readKeyFile(file), jwksUri: null };
  return jwksUri === undefined ? body : { ...body, publicKeys: [], jwksUri };
}

const shownValue = (value: unknown): string | null => {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(" ");
  return typeof value === "object" ? value && JSON.stringify(value) : String(value as string | boolean);
};

const show = (app: Schemas["AdminApp"]): Result => ({
  lines: recordLines(Object.fromEntries(Object.entries(app).map(([name, value]) => [name, shownValue(value)]))),
  quiet: [app.clientId],
  data: app,
});

type SentParameter = NonNullable<SignOnAttempt["steps"][number]["sent"]>[number];

/** Formats one parameter; empty if it is optional and was not sent. */
function lineOfSent({ name, value, length, problem, advice }: SentParameter): string[] {
  const isSent = value !== null || length !== null;
  if (!isSent && problem === null) return [];
  const text = value ?? (length === null ? "not sent" : `(${length} characters)`);
  const wrong = problem === null ? "" : `  <- ${problem}${advice === null ? "" : `: ${advice} See ${signOnDocs}.`}`;
  return [`    ${name}: ${text}${wrong}`];
}

function showSignOns(attempts: readonly SignOnAttempt[]): Result {
  const signOns = attempts.map(({ id, steps }) => {
    const advised = adviseSignOn(steps);
    return { id, advice: advised === null ? null : signOnAdviceTexts.en[advised.advice], steps };
  });
  const lines = signOns.flatMap(({ advice, steps }) => [
    ...steps.flatMap(({ at, step, outcome, sent, ...of }) => [
      [at, step, outcome, of.code, of.description, of.requestId].filter((part) => part !== null).join("  "),
      ...(sent ?? []).flatMap(lineOfSent),
    ]),
    ...(advice === null ? [] : [`  ${advice} See ${signOnDocs}.`]),
    "",
  ]);
  const empty = ["Nobody signed in during the last seven days."];
  return { lines: signOns.length === 0 ? empty : lines, data: { signOns } };
}

export const extensions: Extensions = {
  create: { body: readKeys },
  update: {
    body: readKeys,
    send: async ({ api }, { path, body }) => {
      const { clientId = "" } = path;
      if (!isEmpty(body)) await api.PATCH("/admin/v1/apps/{clientId}", { params: { path: { clientId } }, body });
      return { clientId, changed: Object.keys(body) };
    },
    print: (data: { changed: readonly string[] }) => ({
      lines: [data.changed.length === 0 ? "No change." : "App updated."],
      data,
    }),
  },
  show: { print: show },
  "sign-ons": { print: showSignOns },
};

const previewed = ({ people }: Schemas["IdMovePreview"]): Result => ({
  lines: [`${people} people would keep their id until the cut-over. Nothing was changed.`],
  quiet: [String(people)],
  data: { people },
});

const started = (answer: Schemas["IdMove"] | Schemas["IdMovePreview"]) =>
  "state" in answer ? undefined : previewed(answer);

export const idMoveExtensions: Extensions = { start: { print: started } };
