import { Api as Idm } from "../clients/swagger-typescript-api/idm/client";
import { Api as Schulconnex, type SchulconnexError } from "../clients/swagger-typescript-api/schulconnex/client";
import { Api as SignOn } from "../clients/swagger-typescript-api/sign-on/client";
import { basic, kept, print, refusalOf, world } from "./world";

const { urls } = world;
const withToken = (baseUrl: string, authorization: string) => ({
  baseUrl,
  baseApiParams: { headers: { authorization } },
});
const tokenFor = { grant_type: "client_credentials", scope: world.scope } as const;

/** A refusal is the response, with the body in `error`. */
const refused = async (call: Promise<unknown>) =>
  (await refusalOf(call)) as Response & { error: { error: string; code: string } };
/** The generator parses no body of an operation that only refuses. */
async function notOffered(call: Promise<unknown>) {
  const response = (await refusalOf(call)) as Response;
  return { status: response.status, ...((await response.json()) as SchulconnexError) };
}

async function run(): Promise<void> {
  const signOn = new SignOn(withToken(urls.signOn, basic()));
  const { data: token } = await signOn.oauth2.issueToken(tokenFor);
  const asStranger = new SignOn(withToken(urls.signOn, basic("wrong")));
  const wrong = await refused(asStranger.oauth2.issueToken(tokenFor));

  const bearer = `Bearer ${token.access_token}`;
  const { idm } = new Idm(withToken(urls.idm, bearer));
  const { idm: records } = new Schulconnex(withToken(urls.schulconnex, bearer));
  const asUser = `Bearer ${world.userToken}`;

  const position = (await idm.listChanges()).data;
  const read = {
    listSchools: (await idm.listSchools()).data,
    getSchool: (await idm.getSchool(world.school)).data,
    getSchoolRoster: (await idm.getSchoolRoster(world.school)).data,
    listSchoolUsers: (await idm.listSchoolUsers(world.school)).data,
    getUser: (await idm.getUser(world.person)).data,
    listSchoolGroups: (await idm.listSchoolGroups(world.school)).data,
    getGroup: (await idm.getGroup(world.group)).data,
    listSchoolPeople: (await idm.listSchoolPeople(world.school)).data,
    getPerson: (await idm.getPerson(world.personWithoutName)).data,
    listChanges: position,
    acknowledgeErasure: (await idm.acknowledgeErasure(world.erasure, kept)).data,
    listErasures: (await idm.listErasures()).data,
    listIdentifierChanges: (await idm.listIdentifierChanges({ id: world.movedPerson })).data,
    listPersonenInfo: (await records.listPersonenInfo()).data,
    listCodelisten: (await records.listCodelisten()).data,
    getPersonInfo: (await new Schulconnex(withToken(urls.schulconnex, asUser)).idm.getPersonInfo()).data,
    getUserinfo: (await new SignOn(withToken(urls.signOn, asUser)).oauth2.getUserinfo()).data,
    getDiscovery: (await signOn.wellKnown.getDiscovery()).data,
    listKeys: (await signOn.wellKnown.listKeys()).data,
    introspectToken: (await signOn.oauth2.introspectToken({ token: token.access_token })).data,
  };
  const changes = await idm.listChanges({ after: position.next, limit: 10 });
  const page = await idm.listSchoolPeople(world.school, { limit: 1 });
  const groups = await idm.listSchoolGroups(world.school, { "show-deleted": true });
  const parts = await records.listPersonenInfo({
    vollstaendig: ["personen", "personenkontexte"],
    pid: world.person,
  });
  const hidden = await refused(idm.getPerson(world.hiddenPerson));
  const limit = await refused(idm.listSchools({ limit: 0 }));
  const stranger = await refused(new Idm(withToken(urls.idm, "Bearer unknown")).idm.listSchools());
  const organisations = await notOffered(records.listOrganisationenInfo());
  const gruppen = await notOffered(records.listGruppenInfo());
  const revoked = await signOn.oauth2.revokeToken({ token: token.access_token });

  print({
    token,
    wrongSecret: { status: wrong.status, error: wrong.error.error },
    read: { ...read, revokeToken: revoked.status },
    changed: changes.data.changes.length,
    firstPage: page.data,
    deletedGroups: groups.data,
    withParts: parts.data,
    hidden: { status: hidden.status, code: hidden.error.code },
    wrongLimit: { status: limit.status, code: limit.error.code },
    wrongToken: { status: stranger.status, code: stranger.error.code },
    notOffered: { listOrganisationenInfo: organisations, listGruppenInfo: gruppen },
  });
}

void run();
