import { foldText } from "../../platform/text/fold-text.ts";

/** One spelling for one account: width, case and surrounding space do not matter. */
export const foldUsername = (username: string): string => foldText(username);
