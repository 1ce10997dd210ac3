import type { AdminSchemas } from "../../admin/index.ts";
import { loadRosters } from "../../admin/index.ts";
import { leavingOf, Refused, refuseField, type PageRequest, type Redirect } from "../frame/index.ts";
import { ofSchool, one, readImport } from "./import-record.ts";
import german from "./locales/de.json" with { type: "json" };

/** More classes than any school has. */
const allMoves = 1000;

async function readMoves(request: PageRequest) {
  const query = { ...ofSchool(request), limit: allMoves };
  const items = await request.call("listImportGroupMoves", { query, signal: leavingOf(request) });
  return items.map((move) => ({ ...move, pair: pairOf(move) }));
}

/** The value of the checkbox; null for a class that was made by hand, which has no id to carry over. */
const pairOf = ({ from, to }: AdminSchemas["ImportGroupMove"]): string | null =>
  from.sourceSystemIdentifier && JSON.stringify([from.sourceSystemIdentifier, to.sourceSystemIdentifier]);

/** The classes that move up. Boxes are ticked as in the refused form, otherwise for classes that are carried over. */
export async function showMoves(request: PageRequest) {
  const { locale, refused, typed } = request;
  const list = new Intl.ListFormat(locale, { type: "conjunction" });
  const chosen = refused !== null && typed["moves"] !== undefined ? (typed["move"] ?? []) : null;
  return (await readMoves(request)).map((move) => ({
    ...move,
    appNames: list.format(move.apps.map(({ name }) => name)),
    isChosen: chosen === null ? move.isCarriedOver : chosen.includes(move.pair ?? ""),
  }));
}

/** Carries over the classes that are ticked, and no others. Returns whether that changed the import. */
async function changeMoves(request: PageRequest): Promise<boolean> {
  const { call, field, typed, now } = request;
  if (field("moves") === "") return false;
  const chosen = new Set(typed["move"] ?? []);
  const present = (await readMoves(request)).filter(({ isCarriedOver }) => isCarriedOver);
  if (present.length === chosen.size && present.every(({ pair }) => pair !== null && chosen.has(pair))) return false;
  const { schoolYear } = await readImport(request);
  const body = { schoolYear: schoolYear ?? (await loadRosters()).schoolYearOf(now), moves: [...chosen].map(readPair) };
  await call("setImportGroupMoves", { query: ofSchool(request), body });
  return true;
}

function readPair(text: string): { from: string; to: string } {
  try {
    const [from, to] = JSON.parse(text) as unknown[];
    if (typeof from === "string" && typeof to === "string") return { from, to };
  } catch {
    // An invalid value is treated as no pair.
  }
  throw new Refused(400, { code: "invalid_request" });
}

const reasons = Object.keys(german.apply.confirm) as AdminSchemas["ImportHoldReason"][];

/**
 * Applies the import as it was shown. If other classes are ticked than were, it is shown again with its new numbers.
 *
 * Errors: Refused if a number typed is another one.
 */
export async function apply(request: PageRequest): Promise<Redirect> {
  const { call, at } = request;
  if (await changeMoves(request)) return { to: at(one), done: "movesSet" };
  const applied = await call("applyImport", { body: readConfirmation(request) });
  return { to: at(one), ...(applied.state === "APPLIED" && { done: "importApplied" }) };
}

export async function setMoves(request: PageRequest): Promise<Redirect> {
  await changeMoves(request);
  return { to: request.at(one), done: "movesSet" };
}

/** The number of leavers that was shown, or the number typed for each reason of a hold. */
function readConfirmation({ field, typed }: PageRequest): AdminSchemas["ImportConfirmation"] {
  const read = (name: string, code: string): number => {
    const digits = field(name).replace(/[\s.]/g, "");
    if (!/^\d{1,9}$/.test(digits)) throw refuseField(name, code, 409);
    return Number(digits);
  };
  const held = reasons.filter((reason) => typed[`hold_${reason}`] !== undefined);
  if (held.length === 0) return { confirmLeavers: read("leavers", "leavers_not_confirmed") };
  return { confirmHolds: held.map((reason) => ({ reason, count: read(`hold_${reason}`, "holds_not_confirmed") })) };
}

/** Merges two similar groups. The same form sent again succeeds too. */
export async function joinGroups(request: PageRequest): Promise<Redirect> {
  const { call, at, field } = request;
  const body = { groupId: field("group"), sourceSystemIdentifier: field("source") };
  await call("joinImportGroups", { query: ofSchool(request), body }).catch(async (error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "not_look_alike") throw error;
    const group = await call("getGroup", { path: { groupId: body.groupId } });
    if (group.sourceSystemIdentifier !== body.sourceSystemIdentifier) throw error;
  });
  return { to: at(one), done: "groupsJoined" };
}
