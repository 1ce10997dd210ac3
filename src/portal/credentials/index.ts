import type { AdminSchemas } from "../../admin/index.ts";
import {
  makeFile,
  makePage,
  findHasCards,
  leavingOf,
  listGroups,
  makeArea,
  onlyClasses,
  onlyIf,
  readChoice,
  refuseField,
  unlessDone,
  type PageRequest,
} from "../frame/index.ts";

const credentials = "/admin/schools/:schoolId/credentials";
const batch = `${credentials}/:credentialBatchId`;

/** `/admin/schools/:schoolId/credentials`: cards and passwords for several classes or the whole school. */
export const credentialsPages = makeArea({ folder: import.meta.dirname, page: "classes" }, (pages) => {
  const onCredentials = pages.at(credentials, onlyIf("createCredentialBatch", showStart));
  onCredentials.post("", startBatch);
  onCredentials.form("letter", changeLetter, onlyIf("putParentLetter", showLetter));
  const onBatch = pages.at(batch, showBatch);
  onBatch.post("document", handOut);
  onBatch.act("delete", "deleteCredentialBatch", "batchDeleted", { to: credentials });
});

const roles = ["STUDENT", "TEACHER", "OTHER"] as const satisfies readonly AdminSchemas["SchoolRole"][];
const kinds = ["passwords", "cards", "both", "letters"] as const;

async function showStart(request: PageRequest) {
  const { call, t, typed, field, may } = request;
  const [groups, hasCards, batches] = await Promise.all([
    listGroups(request),
    findHasCards(request),
    call("listCredentialBatches"),
  ]);
  return makePage("start", t("words.credentials"), {
    groups: onlyClasses(groups).filter(({ members }) => members > 0),
    batches,
    kinds: hasCards ? kinds : (["passwords", "letters"] as const),
    hasCards,
    roles: may("createSchoolPasswords") ? roles : [],
    chosen: {
      kind: field("kind") || "passwords",
      letters: field("letters") === "yes",
      whom: field("whom") || "all",
      roles: typed["role"] ?? ["STUDENT"],
      groups: typed["group"] ?? [],
      everybody: field("everybody") === "yes",
    },
  });
}

async function startBatch(request: PageRequest) {
  const { call, at, typed, field } = request;
  const kind = kinds.find((one) => one === field("kind")) ?? "passwords";
  const groupIds = [...(typed["group"] ?? [])];
  const chosen = roles.filter((role) => typed["role"]?.includes(role));
  const selected = field("whom") === "groups" ? "groups" : "all";
  const isForGroups = readChoice(request, "whom", { selected, boxes: { groups: "group" } }) === "groups";
  if (isForGroups && groupIds.length === 0) throw refuseField("groupIds", "groups_missing");
  if (!isForGroups && typed["role"] !== undefined && chosen.length === 0) throw refuseField("roles", "roles_missing");
  const { id } = await call("createCredentialBatch", {
    body: {
      ...(isForGroups ? { groupIds } : chosen.length === 0 ? {} : { roles: chosen }),
      newPasswords: kind === "passwords" || kind === "both",
      withQr: kind === "cards" || kind === "both",
      withLetters: kind === "letters" || field("letters") === "yes",
      onlyMissing: field("everybody") !== "yes",
    },
  });
  return { to: `${at(credentials)}/${id}` };
}

async function showLetter({ getRecord, t, typed, field, locale }: PageRequest) {
  const { record, tag } = await getRecord("getParentLetter");
  const text = typed["text"] === undefined ? (record.text ?? record.defaults[locale]) : field("text");
  return makePage("letter", t("letter.title"), { tag, text, isOwn: record.text !== null });
}

async function changeLetter({ call, at, field }: PageRequest) {
  // A browser sends each end of a line as two characters, but counts one.
  const text = field("text").replaceAll("\r\n", "\n").trim();
  const body = { text: field("reset") === "yes" || text === "" ? null : text };
  await call("putParentLetter", { body }).catch(unlessDone(body));
  return { to: at(credentials), done: "letterSaved" };
}

type Batch = AdminSchemas["CredentialBatch"];

const kindOf = ({ newPasswords, withQr }: Batch) =>
  withQr ? (newPasswords ? "both" : "cards") : newPasswords ? "passwords" : "letters";

const titleOf = (read: Batch, { t }: PageRequest): string =>
  t(kindOf(read) === "letters" ? "batch.onlyLetters" : "batch.title");

async function nameChosen({ groupIds, roles: chosen }: Batch, request: PageRequest): Promise<string> {
  if (groupIds === null) return chosen.map((role) => request.t(`roles.${role}`)).join(", ");
  const names = new Map((await listGroups(request)).map(({ id, name }) => [id, name]));
  return groupIds.map((id) => names.get(id) ?? request.t("batch.otherGroup")).join(", ");
}

async function showBatch(request: PageRequest) {
  const { call } = request;
  const read = await call("getCredentialBatch");
  return makePage("batch", titleOf(read, request), {
    batch: read,
    percent: Math.floor((100 * read.prepared) / Math.max(1, read.people)),
    kind: kindOf(read),
    whom: await nameChosen(read, request),
  });
}

/** Makes everything in the document valid, and hands it out. */
async function handOut(request: PageRequest) {
  const { call, field, locale: language } = request;
  const name = titleOf(await call("getCredentialBatch"), request);
  const format = field("format") === "csv" ? "csv" : "pdf";
  const file = await call("takeCredentialBatch", { query: { language, format }, signal: leavingOf(request) });
  return makeFile(file, name, format);
}
