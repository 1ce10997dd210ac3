import { readFile } from "node:fs/promises";
import { reportSignature } from "../../clients/tools/src/signature/index.ts";
import type { Schemas } from "./admin-api.ts";
import { makeOwnCommand, type OwnTools, type Result, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { alignColumns, recordLines } from "./lines.ts";
import { option, required, UsageError } from "./option.ts";

type Attempt = Schemas["DeliveryWithLog"]["log"][number];

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at,
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

const showDelivery = ({ delivery, log }: Schemas["DeliveryWithLog"]): Result => {
  const { deliveryId: id, messageId, endpointId, state, body } = delivery;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: { ...delivery, log } };
};

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w-]+):(.*)$/.exec(line.trim()) ?? [];
      if (name === undefined) throw new UsageError(`'${line}' is not a header such as 'webhook-id: 019a1f2e-…'.`);
      return [name.toLowerCase(), value!.trim()];
    }),
  );
}

async function readSecret({ askSecret }: OwnTools, file: string | undefined): Promise<string> {
  const secret = file !== undefined ? await readFile(file, "utf8") : await askSecret?.("Webhook secret (not shown): ");
  if (secret?.trim()) return secret;
  throw new UsageError("The secret is missing: give --secret-file <path>.");
}

export const verbs: Verbs = {
  "debug-signature": makeOwnCommand({
    summary:
      "Explain why the signature of an event does not match: which byte, encoding or step differs. Exits with 1 if one does not match. Asks for the secret.",
    options: {
      header: option.texts("A header of the request as it came: 'webhook-id: 019a1f2e-…'.", "name: value"),
      headersFile: option.text("A file with the headers, one in each line.", "path"),
      bodyFile: required(option.text("A file with the bytes of the body.", "path")),
      secretFile: option.text("A file with the secret; /dev/stdin for what is piped.", "path"),
      computed: option.text("The signature that your app makes of the same.", "signature"),
    },
    run: async (tools, { options: { header = [], headersFile, bodyFile, secretFile, computed } }) => {
      const written = headersFile === undefined ? "" : await readFile(headersFile, "utf8");
      // A stored request begins with a line that is not a header.
      const lines = written.split(/\r?\n/).filter((line) => line.trim() !== "" && !/^(POST |HTTP\/)/.test(line));
      const headers = readHeaders([...lines, ...header]);
      const body = await readFile(bodyFile);
      const secret = await readSecret(tools, secretFile);
      return reportSignature({ headers, body, secret, computed, now: new Date() });
    },
  }),
};

export const extensions: Extensions = { delivery: { print: showDelivery } };
