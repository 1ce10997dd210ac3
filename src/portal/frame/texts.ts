import labels from "../../../generated/openapi/property-labels.json" with { type: "json" };
import { addTexts } from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** The texts of the frame, with what the contract calls its properties. */
export const frameTexts = {
  de: addTexts(german, { frame: { difference: { property: labels.de } } }),
  en: addTexts(english, { frame: { difference: { property: labels.en } } }),
};
