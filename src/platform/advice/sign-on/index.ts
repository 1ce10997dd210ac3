import german from "./de.json" with { type: "json" };
import english from "./en.json" with { type: "json" };
import germanFaults from "./faults-de.json" with { type: "json" };
import englishFaults from "./faults-en.json" with { type: "json" };
import germanSent from "./sent-de.json" with { type: "json" };
import englishSent from "./sent-en.json" with { type: "json" };

type SignOnAdvice = keyof typeof english | TokenFault;
type Step = {
  step: string;
  outcome: "done" | "waiting" | "refused";
  code: string | null;
  reason?: string | null;
};

export const signOnAdviceTexts: Record<"de" | "en", Readonly<Record<SignOnAdvice, string>>> = {
  de: { ...german, ...germanFaults },
  en: { ...english, ...englishFaults },
};

/** The page that explains a refused step. */
export const errorDocs = ({ code, reason }: Pick<Step, "code" | "reason">): string =>
  `/docs/errors/${reason ?? code ?? "server_error"}`;
export const signOnDocs = "/docs/sign-on";

/** Why a token request was refused; more exact than the error of OAuth. */
export type TokenFault = keyof typeof englishFaults;

export const tokenFaultTexts: Record<"de" | "en", Readonly<Record<TokenFault, string>>> = {
  de: germanFaults,
  en: englishFaults,
};

const isFault = (reason: string): reason is TokenFault => Object.hasOwn(englishFaults, reason);

const byCode: Readonly<Record<string, SignOnAdvice>> = {
  invalid_redirect_uri: "redirect_uri",
  invalid_client: "client",
  invalid_scope: "scope",
  unauthorized_client: "flow",
  unsupported_response_type: "flow",
  unsupported_grant_type: "flow",
  access_denied: "denied",
  login_required: "silent",
  consent_required: "silent",
  interaction_required: "silent",
  account_selection_required: "silent",
  server_error: "ours",
  temporarily_unavailable: "ours",
};

export function adviseSignOn(steps: readonly Step[]): { index: number; advice: SignOnAdvice } | null {
  const index = steps.length - 1;
  const last = steps[index];
  if (last === undefined) return null;
  if (last.outcome === "waiting") return { index, advice: "waiting" };
  if (last.outcome === "done") return last.step === "code" ? { index, advice: "not_exchanged" } : null;
  if (typeof last.reason === "string" && isFault(last.reason)) return { index, advice: last.reason };
  if (last.code === "invalid_grant" || last.code === "invalid_request")
    return {
      index,
      advice: last.step === "token" ? (last.code === "invalid_grant" ? "grant" : "token_request") : "request",
    };
  return { index, advice: byCode[last.code ?? ""] ?? "other" };
}

export type SentProblem = keyof typeof englishSent;

/** One parameter of a request. A secret or personal value appears as its `length` only. */
export type SentParameter = {
  name: string;
  value: string | null;
  length: number | null;
  problem: SentProblem | null;
};

export const sentProblemTexts: Record<"de" | "en", Readonly<Record<SentProblem, string>>> = {
  de: germanSent,
  en: englishSent,
};

export const adviseSent = ({ problem }: { problem: string | null }, language: "de" | "en"): string | null =>
  problem !== null && Object.hasOwn(englishSent, problem) ? sentProblemTexts[language][problem as SentProblem] : null;
