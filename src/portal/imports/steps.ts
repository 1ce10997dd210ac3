import type { AdminSchemas } from "../../admin/index.ts";
import { postAndRedirect, Refused, refuseField, unwrap, type Redirect, type PageRequest } from "../frame/index.ts";
import { importAddress, paramsOf } from "./import-record.ts";
import german from "./locales/de.json" with { type: "json" };
import { changeMoves } from "./moves.ts";

const reasons = Object.keys(german.apply.confirm) as AdminSchemas["ImportHoldReason"][];

/**
 * Applies the import as it was shown. If other classes are ticked than were, it is shown again with its new numbers.
 *
 * Errors: Refused if a number typed is another one.
 */
export async function apply(request: PageRequest): Promise<Redirect> {
  const { api, path } = request;
  if (await changeMoves(request)) return { to: importAddress(request), done: "movesSet" };
  const body = readConfirmation(request);
  const applied = await unwrap(api.POST("/admin/v1/imports/{importId}/application", { params: { path }, body }));
  return { to: importAddress(request), ...(applied.state === "APPLIED" && { done: "importApplied" }) };
}

export async function setMoves(request: PageRequest): Promise<Redirect> {
  await changeMoves(request);
  return { to: importAddress(request), done: "movesSet" };
}

export const compare = postAndRedirect("importCompared", importAddress, (request) =>
  request.api.POST("/admin/v1/imports/{importId}/comparison", { params: paramsOf(request) }),
);

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
