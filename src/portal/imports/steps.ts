import { postAndRedirect, Refused, unwrap, type Redirect, type PageRequest } from "../frame/index.ts";
import { importAddress, paramsOf } from "./import-record.ts";

/** Applies the import. Errors: Refused if the number typed is not the number of leavers. */
export async function apply(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  const typed = field("leavers").replace(/[\s.]/g, "");
  if (!/^\d{1,9}$/.test(typed)) throw new Refused(409, { code: "leavers_not_confirmed" });
  const applied = await unwrap(
    api.POST("/admin/v1/imports/{importId}/application", { params: { path }, body: { confirmLeavers: Number(typed) } }),
  );
  return { to: importAddress(request), ...(applied.state === "APPLIED" && { done: "importApplied" }) };
}

export const cancel = postAndRedirect("importCancelled", importAddress, ({ api, path }) =>
  api.POST("/admin/v1/imports/{importId}/cancellation", { params: { path } }),
);

/** Merges two similar groups. The same form sent again succeeds too. */
export async function joinGroups(request: PageRequest): Promise<Redirect> {
  const { api, field } = request;
  const [groupId, sourceSystemIdentifier] = [field("group"), field("source")];
  const join = api.POST("/admin/v1/imports/{importId}/joined-groups", {
    params: paramsOf(request),
    body: { groupId, sourceSystemIdentifier },
  });
  await unwrap(join).catch(async (error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "not_look_alike") throw error;
    const group = await unwrap(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
    if (group.sourceSystemIdentifier !== sourceSystemIdentifier) throw error;
  });
  return { to: importAddress(request), done: "groupsJoined" };
}

/** Moves the selected classes up; the other pairs do not. */
export async function setMoves(request: PageRequest): Promise<Redirect> {
  const { api, field, typed } = request;
  const moves = (typed["move"] ?? []).map(readPair);
  const body = { schoolYear: field("schoolYear"), moves };
  await unwrap(api.POST("/admin/v1/imports/{importId}/group-moves", { params: paramsOf(request), body }));
  return { to: importAddress(request), done: "movesSet", count: moves.length };
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
