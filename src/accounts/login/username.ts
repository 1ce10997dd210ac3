import { foldText } from "../../platform/text/fold-text.ts";

/** Width, case and surrounding space do not matter. */
export const foldUsername = (username: string): string => foldText(username);
