import { bodyOf, omitUndefined, readTagged, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import type { Extension, Extensions } from "./contract-commands.ts";
import { openFile, sendFile, writeNewFile } from "./files.ts";
import { done } from "./lines.ts";
import { argsNamed, option, required, UsageError } from "./option.ts";

const ofApp = "/admin/v1/apps/{clientId}";
const draftPath = `${ofApp}/agreement-draft` as const;
const atSchool = "/admin/v1/schools/{schoolId}/apps/{clientId}/agreement";
const receiptPdf = "/admin/v1/schools/{schoolId}/agreement-receipts/{agreementReceiptId}/pdf";

type ReceiptPath = { schoolId: string; agreementReceiptId: string };
type ReceiptOptions = { file: string; language?: "de" | "en" };

async function readDraft(file: string): Promise<Schemas["AgreementInput"]> {
  const text = await (await openFile(file)).text();
  try {
    return JSON.parse(text) as Schemas["AgreementInput"];
  } catch {
    throw new UsageError(`The file '${file}' is not JSON.`);
  }
}

export const verbs: Verbs = {
  draft: makeApiCommand({
    summary:
      "Write the draft of the next version from a JSON file, and upload its PDF. It replaces the draft before it.",
    args: argsNamed("clientId"),
    options: {
      file: required(option.text("The draft, as /docs/admin of the service describes it (putAgreementDraft).", "path")),
      pdf: option.text("The document, in place of a text in the draft.", "path"),
    },
    run: async ({ api }, { args: path, options: { file, pdf } }) => {
      const params = { path };
      await api.PUT(draftPath, { params, body: await readDraft(file) });
      if (pdf !== undefined) await api.PUT(`${draftPath}/pdf`, { params, ...sendFile(await openFile(pdf)) });
      return done("Draft written. Schools see it once it is published.", path);
    },
  }),
};

/** Agrees to the version that was read, and refuses if another one is current. */
const agree: NonNullable<Extension["send"]> = async (
  { api },
  { path: { schoolId = "", clientId = "" }, query, body },
) => {
  const path = { schoolId, clientId };
  const { record, ifMatch } = await readTagged(api.GET(atSchool, { params: { path } }));
  const { current } = record;
  if (current === undefined || current.version !== body["agreementId"])
    throw new UsageError(`--read-version: the current version is ${current?.version ?? "missing: the app has none"}.`);
  const params = { path, header: ifMatch, query };
  return (await bodyOf(api.PUT(atSchool, { params, body: { ...body, agreementId: current.id } }))) ?? {};
};

async function writeReceipt({ api }: Service, path: ReceiptPath, { file, language }: ReceiptOptions): Promise<Result> {
  const params = { path, query: omitUndefined({ language }) };
  await writeNewFile(file, async () => {
    const pdf: unknown = await bodyOf(api.GET(receiptPdf, { params, parseAs: "stream" }));
    return { content: pdf as ReadableStream<Uint8Array> };
  });
  return done(`Written to ${file}.`, { file });
}

export const extensions: Extensions = {
  accept: { send: agree },
  receipt: {
    options: {
      file: option.text("A PDF; it must not exist.", "path"),
      language: option.oneOf(["de", "en"] as const, "The language of the PDF; de if left out."),
    },
    instead: (service, options, path) =>
      options["file"] === undefined ? undefined : writeReceipt(service, path as ReceiptPath, options as ReceiptOptions),
  },
};
