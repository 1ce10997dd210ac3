import { findApp } from "../access/index.ts";
import type { ReadShare } from "../platform/database/shares.ts";
import { answerMade } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";
import { codelisten, codesOf, type Codeliste, type Spelling } from "./codes.ts";
import type { SchulconnexHandler } from "./contract.ts";

/** The standard itself defines the lists that records have codes of; it leaves classes 2 to 4 to others. */
const classOfOwnLists = 1;

const listIn = (spelling: Spelling): components["schemas"]["Codeliste"][] =>
  (Object.keys(codelisten) as Codeliste[]).map((codeliste) => ({
    codeliste,
    klasse: classOfOwnLists,
    werte: codesOf(codeliste, spelling).map(({ code, ...bezeichnung }) => ({ code, bezeichnung })),
  }));
const lists = { V1_4: listIn("V1_4"), V1_7: listIn("V1_7"), V1_8: listIn("V1_8") };

export const makeListCodelisten =
  (reads: ReadShare): SchulconnexHandler<"listCodelisten"> =>
  ({ caller }) =>
    answerMade(async () => lists[(await findApp(reads.pool, caller.clientId))?.schulconnexSpelling ?? "V1_4"]);
