import type { Report } from "../report.ts";
import { explainSignature, type ComparedSignature, type ReceivedEvent } from "./explain.ts";
import { signatureFaultTexts } from "./texts.ts";

const headerOf = { ep: "X-EP-Signature-Sha256", standard: "webhook-signature" } as const;

/** Explains why a signature does not fit. The secret is not part of the report. */
export function reportSignature(event: ReceivedEvent): Report {
  const data = explainSignature(event);
  const { isGood, compared, faults, bodyBytes } = data;
  return {
    lines: [
      ...compared.flatMap(linesOf),
      ...faults.map((fault) => signatureFaultTexts.en[fault]),
      `The body has ${bodyBytes} bytes.`,
    ],
    quiet: [...new Set([...compared.flatMap((signature) => signature.faults ?? ["unknown"]), ...faults])],
    data,
    hasFailed: !isGood,
  };
}

function linesOf({ scheme, source, given, expected, isGood, faults }: ComparedSignature): string[] {
  const name = source === "header" ? headerOf[scheme] : `What your app computed, read as ${headerOf[scheme]},`;
  if (isGood) return [`${name} fits.`];
  const means =
    faults === null
      ? ["  No known mistake explains the difference: the secret or the body is a different one."]
      : faults.map((fault) => `  ${signatureFaultTexts.en[fault]}`);
  return [`${name} does not fit.`, `  given:    ${given}`, `  expected: ${expected}`, ...means];
}
