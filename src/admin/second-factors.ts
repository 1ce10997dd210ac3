import { present } from "../platform/contract-types.ts";
import { revokeSecondFactorsIn, listSecondFactors as factorsOf } from "../accounts/index.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { changeWithPerson } from "./logins.ts";
import { readPage } from "./page.ts";
import { getReachedPerson } from "./whose-person.ts";

export const listSecondFactors: AdminHandler<"listSecondFactors"> = async (deps, request) => {
  const { personId, reach } = request;
  const page = readPage(deps, request);
  await getReachedPerson(deps.db, reach, personId);
  return page.answerFrom(await factorsOf(deps.db, personId), (factor) => present<Schemas["SecondFactor"]>(factor));
};

export const revokeSecondFactors: AdminHandler<"revokeSecondFactors"> = (deps, request) =>
  changeWithPerson(deps, request, revokeSecondFactorsIn);
