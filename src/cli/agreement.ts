import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { attributes } from "./app.ts";
import { bodyOf, makeBody, omitUndefined, readTagged, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import { done, recordLines, type Columns } from "./lines.ts";
import { writeNewFile } from "./new-file.ts";
import { option, required, UsageError } from "./option.ts";
import { argsNamed, argsOf, changes, lists, shows } from "./verbs.ts";

type Agreement = Schemas["Agreement"];
type Receipt = Schemas["AgreementReceipt"];
type SchoolAgreement = Schemas["SchoolAgreement"];

const ofApp = "/admin/v1/apps/{clientId}";
const draftPath = `${ofApp}/agreement-draft` as const;
const atSchool = "/admin/v1/schools/{schoolId}/apps/{clientId}/agreement";
const receiptsPath = "/admin/v1/schools/{schoolId}/agreement-receipts";
const oneReceipt = `${receiptsPath}/{agreementReceiptId}` as const;

const inSchool = argsNamed("clientId", "schoolId");

const columns: Columns<Agreement> = {
  id: ({ id }) => id,
  version: ({ version }) => version,
  state: ({ state }) => state,
  document: ({ document }) => document?.type ?? null,
  "sha-256": ({ document }) => document?.sha256 ?? null,
  published: ({ publishedAt }) => publishedAt,
};

const receiptColumns: Columns<Receipt> = {
  id: ({ id }) => id,
  app: ({ clientId }) => clientId,
  version: ({ version }) => version,
  agreed: ({ acceptedAt }) => acceptedAt,
  by: ({ acceptedBy: { name, role } }) => `${name ?? "–"} (${role})`,
  ended: ({ replacedAt, withdrawnAt }) => replacedAt ?? withdrawnAt,
};

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

export const changeText = ({ appName, people, groups, schools }: Schemas["ViewChange"]): string => {
  const count = (of: Schemas["ViewChangeCounts"]) => `${of.enter} enter, ${of.change} change, ${of.leave} leave`;
  return `${appName}: people ${count(people)}; groups ${count(groups)}; schools ${count(schools)}.`;
};

/** What a dry run would change, or that the change was made. */
const changed = (line: string, found: readonly Schemas["ViewChange"][] | undefined, data: object): Result =>
  found === undefined
    ? done(line, data)
    : {
        lines: found.length === 0 ? ["No app would see anything else."] : found.map(changeText),
        data: { changes: found },
      };

export const verbs: Verbs = {
  list: lists(`${ofApp}/agreements`, {
    summary: "List the versions of the agreement of an app, with its draft.",
    name: "agreements",
    columns,
  }),
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
  publish: makeApiCommand({
    summary:
      "Publish the draft. A published version never changes; schools that agreed to an earlier one are asked again.",
    args: argsOf(draftPath),
    run: async ({ api }, { args: path }) => {
      const made = await bodyOf(api.POST(`${draftPath}/publication`, { params: { path } }));
      return { lines: [`Version ${made.version} published.`], quiet: [made.id], data: made };
    },
  }),
  "delete-draft": changes("delete", draftPath, {
    summary: "Delete the draft. Published versions stay.",
    line: "Draft deleted.",
  }),
  pdf: makeApiCommand({
    summary: "Write the PDF of a version to a new file.",
    args: argsNamed("agreementId"),
    options: { file: required(option.text("The file; it must not exist.", "path")) },
    run: async ({ api }, { args: path, options: { file } }) =>
      filed(file, () =>
        bodyOf(api.GET("/admin/v1/agreements/{agreementId}/pdf", { params: { path }, parseAs: "arrayBuffer" })),
      ),
  }),
  show: shows(atSchool, {
    summary: "Show the agreement of an app at a school: what is current, what was agreed, what is withheld.",
    args: inSchool,
    show: showAtSchool,
  }),
  accept: makeApiCommand({
    summary: "Agree for a school to the current version of an app, and to all that the app may read.",
    args: inSchool,
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
      return changed(`The school agreed to version ${version}.`, found, { ...path, version });
    },
  }),
  withdraw: makeApiCommand({
    summary: "Withdraw the agreement of a school. Sync to the app ends with it.",
    args: inSchool,
    options: { dryRun },
    run: async ({ api }, { args: path, options: { dryRun: isDry } }) => {
      const params = { path, query: omitUndefined({ "dry-run": isDry || undefined }) };
      const found = await bodyOf(api.DELETE(atSchool, { params }));
      return changed("Agreement withdrawn. Sync to the app is off.", found, path);
    },
  }),
  withhold: makeApiCommand({
    summary: "Switch attributes off for an app at a school, and all others on.",
    args: inSchool,
    options: { attribute: withheldOption, nothing: option.flag("Switch all on."), dryRun },
    run: async ({ api }, { args: path, options: { attribute, nothing, dryRun: isDry } }) => {
      if ((attribute === undefined) === !nothing) throw new UsageError("Give --attribute or --nothing.");
      const params = { path, query: omitUndefined({ "dry-run": isDry || undefined }) };
      const body = { attributes: [...new Set(attribute)] };
      const at = "/admin/v1/schools/{schoolId}/apps/{clientId}/withheld-attributes";
      const found = await bodyOf(api.PUT(at, { params, body }));
      return changed(`Withheld: ${namesOf(body.attributes)}.`, found, { ...path, ...body });
    },
  }),
  receipts: lists(receiptsPath, {
    summary: "List what a school agreed to, the newest receipt first.",
    name: "receipts",
    options: { app: option.text("Only receipts for this app.", "client-id") },
    columns: receiptColumns,
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
