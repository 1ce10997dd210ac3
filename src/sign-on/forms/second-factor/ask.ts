import type { Request, Response } from "express";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf } from "../form.ts";
import type { SecondFactorModel } from "../pages/index.ts";
import {
  askForPasskey,
  checkCode,
  checkPasskey,
  limitedTry,
  listSecondFactors,
  type Asked,
  type SecondFactorCheck,
} from "../../../accounts/index.ts";

type Question = Pick<SecondFactorModel, "takesCode" | "passkey">;

/** What the page that asks for a person's second factor shows. */
export async function askSecondFactor(deps: InteractionDeps, asked: Asked): Promise<Question> {
  const factors = await listSecondFactors(deps.db, asked.personId);
  return {
    takesCode: factors.some(({ kind }) => kind === "TOTP"),
    passkey: await askForPasskey(deps, asked),
  };
}

const longestCode = 64;

/** Checks the answer that came with the form. */
export async function checkAnswer(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  asked: Asked,
): Promise<SecondFactorCheck | { kind: "missing" }> {
  const { personId } = asked;
  const response = fieldOf(req, "passkey");
  if (response !== "") {
    const answer = { response, state: fieldOf(req, "state") };
    return limitedTry(deps, personId, async () => ((await checkPasskey(deps, asked, answer)) ? "hwk" : null));
  }
  const code = fieldOf(req, "code").trim();
  if (code === "") return { kind: "missing" };
  const requestId = res.locals["requestId"] as string | undefined;
  return checkCode(deps, { personId, code: code.slice(0, longestCode), requestId });
}
