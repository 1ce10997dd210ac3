import { findBundle, resolve, type Parameter } from "../../contract/bundles.ts";
import { makeCheck } from "../../support/schema-check.ts";
import { startReceiver, type Received } from "../../support/receiver.ts";
import { verify } from "../../support/webhooks.ts";

export const troubles = ["refused", "answer lost", "no answer", "sent twice"] as const;
/** What goes wrong with a request; null: nothing. */
export type Trouble = (typeof troubles)[number] | null;

export type Line = {
  url: string;
  /** Every request, in order of arrival. */
  received: Received[];
  /** What was wrong with them by the contract. */
  faults: string[];
  /** What went wrong with them on the way. */
  troubles: Trouble[];
};

/** The app at the other end: where its receiver is, and the secret that it was shown. */
export type Target = { url: string; secret: string };

/**
 * A line on which the requests to a receiver are held against the contract, and on which things go wrong.
 *
 * Shape: `attempt` counts from 1.
 */
export async function startLine(
  target: Target,
  chooseTrouble: (call: Received, attempt: number) => Trouble,
): Promise<Line> {
  const line = { faults: [] as string[], troubles: [] as Trouble[] };
  const attempts = new Map<unknown, number>();
  const receiver = await startReceiver(async (call, response) => {
    line.faults.push(...listFaults(call, target.secret));
    const attempt = (attempts.get(call.headers["webhook-id"]) ?? 0) + 1;
    attempts.set(call.headers["webhook-id"], attempt);
    const trouble = chooseTrouble(call, attempt);
    line.troubles.push(trouble);
    if (trouble === "refused") return response.writeHead(500).end();
    const status = await forward(call, target.url);
    if (trouble === "sent twice") await forward(call, target.url);
    return trouble === "no answer" ? undefined : response.writeHead(trouble === "answer lost" ? 500 : status).end();
  });
  return { url: receiver.url, received: receiver.received, ...line };
}

async function forward({ headers, body }: Received, url: string): Promise<number> {
  const sent = Object.entries(headers).filter(([name]) => /^(content-type|x-ep-.*|webhook-.*)$/.test(name));
  return (await fetch(url, { method: "POST", headers: sent as [string, string][], body })).status;
}

const bundle = findBundle("webhooks");
const validate = makeCheck(bundle.document);

/** Lists what is wrong with a request by webhooks.yaml: headers, body, both signatures. */
export function listFaults(call: Received, secret: string): string[] {
  const operation = bundle.document.paths[`/webhooks/${String(call.headers["x-ep-event-type"])}`]?.["post"];
  const media = operation?.requestBody?.content[String(call.headers["content-type"])];
  if (!operation || !media) return [`this is not described: ${JSON.stringify(call)}`];
  const headers = (operation.parameters ?? [])
    .map((parameter) => resolve<Parameter>(bundle, parameter))
    .map(({ name, required, schema }) => {
      const value = call.headers[name.toLowerCase()];
      if (value === undefined) return required ? `${name} is missing` : "";
      return validate(schema, value) && `${name}: ${validate(schema, value)}`;
    });
  const { ep, standard } = verify(call, secret);
  const signatures = [ep ? "" : "X-EP-Signature-Sha256 is wrong", standard ? "" : "webhook-signature is wrong"];
  return [...headers, validate(media.schema, JSON.parse(call.body)), ...signatures].filter((fault) => fault !== "");
}
