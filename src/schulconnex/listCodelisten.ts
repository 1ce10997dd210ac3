import { findApp } from "../access/index.ts";
import type { ReadShare } from "../platform/database/shares.ts";
import { answerMade } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";
import { codelisten, codesOf, type Codeliste } from "./codes.ts";
import type { SchulconnexHandler } from "./contract.ts";

const listIn = (spelling: "V1_4" | "V1_7"): components["schemas"]["Codeliste"][] =>
  (Object.keys(codelisten) as Codeliste[]).map((codeliste) => ({
    codeliste,
    werte: codesOf(codeliste).map(([code, { v17 = code, de, en }]) => ({
      code: spelling === "V1_7" ? v17 : code,
      bezeichnung: { de, en },
    })),
  }));
const lists = { V1_4: listIn("V1_4"), V1_7: listIn("V1_7") };

export const makeListCodelisten =
  (reads: ReadShare): SchulconnexHandler<"listCodelisten"> =>
  ({ caller }) =>
    answerMade(async () => lists[(await findApp(reads.pool, caller.clientId))?.schulconnexSpelling ?? "V1_4"]);
