import type { AccessToken } from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import type { Handler } from "../platform/http/index.ts";
import type { operations } from "../../generated/openapi/schulconnex.ts";

export type SchulconnexHandler<Id extends keyof operations> = Handler<operations[Id], AccessToken>;

/** For endpoints of the standard that this service does not offer. */
const notOffered = () => new AppError("not_offered", "not_offered", "This endpoint is not offered.");

export const notOfferedHandlers = {
  getBeziehung: notOffered,
  getGruppe: notOffered,
  getGruppenzugehoerigkeit: notOffered,
  getOrganisation: notOffered,
  getOrganisationInfo: notOffered,
  getPersonendatensatz: notOffered,
  getPersonenkontext: notOffered,
  getSichtfreigabe: notOffered,
  listAllGruppenzugehoerigkeiten: notOffered,
  listBeziehungen: notOffered,
  listGruppen: notOffered,
  listGruppenInfo: notOffered,
  listGruppenzugehoerigkeiten: notOffered,
  listOrganisationGruppenInfo: notOffered,
  listOrganisationen: notOffered,
  listOrganisationenInfo: notOffered,
  listOrganisationsbeziehungen: notOffered,
  listPersonPersonenkontexte: notOffered,
  listPersonen: notOffered,
  listPersonenkontexte: notOffered,
  listPoliciesInfo: notOffered,
  listSichtfreigaben: notOffered,
};
