import { AppError } from "../platform/errors.ts";

/** Endpoints that the standard has and this service does not. */
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
