import { Refused, take, type Gone, type Visit } from "../frame/index.ts";
import { importAddress, paramsOf } from "./words.ts";

/** Applies the import. Errors: Refused where the number that was typed is not that of the people who leave. */
export async function apply(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const typed = field("leavers").replace(/[\s.]/g, "");
  if (!/^\d{1,9}$/.test(typed)) throw new Refused(409, { code: "leavers_not_confirmed" });
  const { path } = paramsOf(visit);
  const applied = await take(
    api.POST("/admin/v1/imports/{importId}/application", { params: { path }, body: { confirmLeavers: Number(typed) } }),
  );
  return { to: importAddress(visit), ...(applied.state === "APPLIED" && { done: "importApplied" }) };
}

export async function cancel(visit: Visit): Promise<Gone> {
  const { path } = paramsOf(visit);
  await take(visit.api.POST("/admin/v1/imports/{importId}/cancellation", { params: { path } }));
  return { to: importAddress(visit), done: "importCancelled" };
}

/** Joins two groups that look alike; a form that is sent twice joins them once. */
export async function joinGroups(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const [groupId, sourceSystemIdentifier] = [field("group"), field("source")];
  const join = api.POST("/admin/v1/imports/{importId}/joined-groups", {
    params: paramsOf(visit),
    body: { groupId, sourceSystemIdentifier },
  });
  await take(join).catch(async (error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "not_look_alike") throw error;
    const group = await take(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
    if (group.sourceSystemIdentifier !== sourceSystemIdentifier) throw error;
  });
  return { to: importAddress(visit), done: "groupsJoined" };
}

/** Lets the chosen classes go on as others; the pairs that are not chosen do not. */
export async function setMoves(visit: Visit): Promise<Gone> {
  const { api, field, typed } = visit;
  const moves = (typed["move"] ?? []).map(readPair);
  const body = { schoolYear: field("schoolYear"), moves };
  await take(api.POST("/admin/v1/imports/{importId}/group-moves", { params: paramsOf(visit), body }));
  return { to: importAddress(visit), done: "movesSet", count: moves.length };
}

function readPair(text: string): { from: string; to: string } {
  try {
    const [from, to] = JSON.parse(text) as unknown[];
    if (typeof from === "string" && typeof to === "string") return { from, to };
  } catch {
    // Whatever is no pair is refused alike.
  }
  throw new Refused(400, { code: "invalid_request" });
}
