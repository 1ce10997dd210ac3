import german from "./de.json" with { type: "json" };
import english from "./en.json" with { type: "json" };
import type { EventFault, SignatureFault } from "./explain.ts";

export const signatureFaultTexts: Record<"de" | "en", Readonly<Record<SignatureFault | EventFault, string>>> = {
  de: german,
  en: english,
};
