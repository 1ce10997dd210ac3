import type { AdminSchemas } from "../../admin/index.ts";
import { leavingOf, Refused, unwrap, unwrapPage, type PageRequest } from "../frame/index.ts";
import { paramsOf, readImport } from "./import-record.ts";

/** More classes than any school has. */
const allMoves = 1000;

async function readMoves(request: PageRequest) {
  const { path, query } = paramsOf(request);
  const params = { path, query: { ...query, limit: allMoves } };
  const { items } = await unwrapPage(
    request.api.GET("/admin/v1/imports/{importId}/group-moves", { params, signal: leavingOf(request) }),
  );
  return items.map((move) => ({ ...move, pair: pairOf(move) }));
}

/** The value of the checkbox; null for a class that was made by hand, which has no id to carry over. */
const pairOf = ({ from, to }: AdminSchemas["ImportGroupMove"]): string | null =>
  from.sourceSystemIdentifier && JSON.stringify([from.sourceSystemIdentifier, to.sourceSystemIdentifier]);

/** The classes that move up, ticked as they are carried over, or as the refused form had them. */
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
export async function changeMoves(request: PageRequest): Promise<boolean> {
  const { api, field, typed, now } = request;
  if (field("moves") === "") return false;
  const chosen = new Set(typed["move"] ?? []);
  const present = (await readMoves(request)).filter(({ isCarriedOver }) => isCarriedOver);
  if (present.length === chosen.size && present.every(({ pair }) => pair !== null && chosen.has(pair))) return false;
  const { schoolYear } = await readImport(request);
  const body = { schoolYear: schoolYear ?? schoolYearOf(now), moves: [...chosen].map(readPair) };
  await unwrap(api.POST("/admin/v1/imports/{importId}/group-moves", { params: paramsOf(request), body }));
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

/** From May on, rosters are of the next school year. */
export function schoolYearOf(now: Date): string {
  const year = now.getFullYear() - (now.getMonth() < 4 ? 1 : 0);
  return `${year}/${String(year + 1).slice(-2)}`;
}
