import {
  type BoundPerson,
  askForPasskey,
  checkCode,
  checkPasskey,
  limitedTry,
  listSecondFactors,
  type SecondFactorCheck,
} from "../../../accounts/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf, type PageRequest, requestIdOf } from "../page-request.ts";
import type { SecondFactorModel } from "../pages/index.ts";

export async function askSecondFactor(
  deps: InteractionDeps,
  person: BoundPerson,
): Promise<Pick<SecondFactorModel, "takesCode" | "passkey">> {
  const factors = await listSecondFactors(deps.db, person.personId);
  return { takesCode: factors.some(({ kind }) => kind === "TOTP"), passkey: await askForPasskey(deps, person) };
}

const longestCode = 64;

export async function checkAnswer(
  request: PageRequest,
  person: BoundPerson,
): Promise<SecondFactorCheck | { kind: "missing" }> {
  const { deps } = request;
  const { personId } = person;
  const response = fieldOf(request, "passkey");
  if (response !== "") {
    const answer = { response, state: fieldOf(request, "state") };
    return limitedTry(deps, personId, async () => ((await checkPasskey(deps, person, answer)) ? "hwk" : null));
  }
  const code = fieldOf(request, "code").trim().slice(0, longestCode);
  if (code === "") return { kind: "missing" };
  return checkCode(deps, { personId, code, requestId: requestIdOf(request) });
}
