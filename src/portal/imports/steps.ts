import { postAndRedirect, Refused, unwrap, type Redirect, type PageRequest } from "../frame/index.ts";
import { importAddress, paramsOf } from "./import-record.ts";
import { isHeldAfterMoves } from "./moves.ts";

/**
 * Applies the import with the classes that are ticked. If the import is held without the others, it is shown again.
 *
 * Errors: Refused if the number typed is not the number of leavers.
 */
export async function apply(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  const typed = field("leavers").replace(/[\s.]/g, "");
  if (!/^\d{1,9}$/.test(typed)) throw new Refused(409, { code: "leavers_not_confirmed" });
  if (await isHeldAfterMoves(request)) return { to: importAddress(request), done: "movesSet" };
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
