import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { attributes } from "./app.ts";
import { bodyOf, makeBody, omitUndefined, readTagged, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import { printChanges, type Extensions } from "./contract-commands.ts";
import { done, recordLines } from "./lines.ts";
import { writeNewFile } from "./new-file.ts";
import { option, required, UsageError } from "./option.ts";
import { argsNamed, argsOf } from "./verbs.ts";

type SchoolAgreement = Schemas["SchoolAgreement"];

const ofApp = "/admin/v1/apps/{clientId}";
const draftPath = `${ofApp}/agreement-draft` as const;
const atSchool = "/admin/v1/schools/{schoolId}/apps/{clientId}/agreement";
const receiptsPath = "/admin/v1/schools/{schoolId}/agreement-receipts";
const oneReceipt = `${receiptsPath}/{agreementReceiptId}` as const;

const namesOf = (items: readonly string[]): string => items.join(" ") || "none";

const showAtSchool = (shown: SchoolAgreement): Result => ({
  lines: recordLines({
    state: shown.state,
    "current version": shown.current?.version ?? null,
    "agreed version": shown.accepted?.version ?? null,
    receipt: shown.accepted?.id ?? null,
    attributes: namesOf(shown.attributes),
    scopes: namesOf(shown.scopes),
    "not agreed yet": namesOf([...shown.addedAttributes, ...shown.addedScopes]),
    "attributes withheld": namesOf(shown.withheldAttributes.map(({ attribute }) => attribute)),
    "scopes withheld": namesOf(shown.withheldScopes.map(({ scope }) => scope)),
  }),
  quiet: shown.accepted === undefined ? [] : [shown.accepted.id],
  data: shown,
});

const showReceipt = ({ receipt, schoolName, agreement }: Schemas["AgreementProof"]): Result => ({
  lines: [
    ...recordLines({
      school: schoolName,
      app: receipt.appName,
      provider: receipt.provider,
      version: receipt.version,
      "sha-256": receipt.sha256,
      agreed: receipt.acceptedAt,
      by: `${receipt.acceptedBy.name ?? "–"} (${receipt.acceptedBy.role})`,
      attributes: namesOf(receipt.attributes),
      scopes: namesOf(receipt.scopes),
      withheld: namesOf(receipt.withheld),
      replaced: receipt.replacedAt,
      withdrawn: receipt.withdrawnAt,
    }),
    ...(agreement.text === null ? [] : ["", ...agreement.text.split("\n")]),
  ],
  quiet: [receipt.id],
  data: { receipt, schoolName, agreement },
});

async function readDraft(file: string): Promise<Schemas["AgreementInput"]> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new UsageError(`The file '${file}' cannot be read.`);
  });
  try {
    return JSON.parse(text) as Schemas["AgreementInput"];
  } catch {
    throw new UsageError(`The file '${file}' is not JSON.`);
  }
}

async function uploadPdf({ api }: Service, path: { clientId: string }, file: string): Promise<void> {
  const pdf = await openAsBlob(file).catch(() => {
    throw new UsageError(`The file '${file}' cannot be read.`);
  });
  await api.PUT(`${draftPath}/pdf`, {
    params: { path },
    // The contract's binary text is the bytes of the file.
    body: pdf as unknown as string,
    bodySerializer: (body) => body,
    headers: { "Content-Type": "application/octet-stream" },
  });
}

const filed = (file: string, read: () => Promise<unknown>): Promise<Result> =>
  writeNewFile(file, async () => ({ content: new Uint8Array((await read()) as ArrayBuffer) })).then(() =>
    done(`Written to ${file}.`, { file }),
  );

const withheldOption = option.someOf(attributes, "The optional attributes that the school switches off.");
const dryRun = option.flag("Only show what the app would see differently.");

export const verbs: Verbs = {
  draft: makeApiCommand({
    summary:
      "Write the draft of the next version from a JSON file, and upload its PDF. It replaces the draft before it.",
    args: argsOf(draftPath),
    options: {
      file: required(option.text("The draft, as /docs/admin of the service describes it (putAgreementDraft).", "path")),
      pdf: option.text("The document, in place of a text in the draft.", "path"),
    },
    run: async (service, { args: path, options: { file, pdf } }) => {
      await service.api.PUT(draftPath, { params: { path }, body: await readDraft(file) });
      if (pdf !== undefined) await uploadPdf(service, path, pdf);
      return done("Draft written. Schools see it once it is published.", path);
    },
  }),
  accept: makeApiCommand({
    summary: "Agree for a school to the current version of an app, and to all that the app may read.",
    args: argsNamed("clientId", "schoolId"),
    options: {
      readVersion: required(option.text("The version that was read; it must be the current one.")),
      withhold: withheldOption,
      withholdNothing: option.flag("Switch all attributes on."),
      dryRun,
    },
    run: async (
      { api },
      { args: path, options: { readVersion: version, withhold, withholdNothing, dryRun: isDry } },
    ) => {
      if (withhold && withholdNothing) throw new UsageError("Give --withhold or --withhold-nothing, not both.");
      const { record, ifMatch } = await readTagged(api.GET(atSchool, { params: { path } }));
      if (record.current?.version !== version)
        throw new UsageError(
          `--read-version: the current version is ${record.current?.version ?? "missing: the app has none"}.`,
        );
      const withheld = withhold || withholdNothing ? [...new Set(withhold)] : undefined;
      const body = makeBody<Schemas["AgreementAcceptanceInput"]>({ agreementId: record.current.id, withheld });
      const params = { path, header: ifMatch, query: omitUndefined({ "dry-run": isDry || undefined }) };
      const found = await bodyOf(api.PUT(atSchool, { params, body }));
      return found === undefined
        ? done(`The school agreed to version ${version}.`, { ...path, version })
        : printChanges(found);
    },
  }),
  receipt: makeApiCommand({
    summary: "Show a receipt with its agreement, or write it to a new file as PDF.",
    args: argsNamed("schoolId", "agreementReceiptId"),
    options: {
      file: option.text("A PDF; it must not exist.", "path"),
      language: option.oneOf(["de", "en"] as const, "The language of the PDF; de if left out."),
    },
    run: async ({ api }, { args: path, options: { file, language } }) => {
      if (file === undefined) return showReceipt(await bodyOf(api.GET(oneReceipt, { params: { path } })));
      const params = { path, query: omitUndefined({ language }) };
      return filed(file, () => bodyOf(api.GET(`${oneReceipt}/pdf`, { params, parseAs: "arrayBuffer" })));
    },
  }),
};

export const extensions: Extensions = { show: { print: showAtSchool } };
