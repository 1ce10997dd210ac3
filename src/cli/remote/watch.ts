import type { ClientId } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { bodyOf, given, type Remote, type Schemas } from "../admin-api.ts";

export const getHealth = ({ api }: Remote): Promise<Schemas["Health"]> => bodyOf(api.GET("/admin/v1/health"));

type FiguresAsked = {
  metric: Schemas["FigureMetric"];
  step: Schemas["FigureStep"];
  school: SchoolId | undefined;
  app: ClientId | undefined;
  from: Date | undefined;
  until: Date | undefined;
};

export const getFigures = (
  { api }: Remote,
  { metric, step, school, app, from, until }: FiguresAsked,
): Promise<Schemas["Figures"]> => {
  const times = { from: from?.toISOString(), until: until?.toISOString() };
  const query = { metric, step, ...given({ school, app, ...times }) };
  return bodyOf(api.GET("/admin/v1/figures", { params: { query } }));
};

export const explainSignIn = (
  { api }: Remote,
  personId: PersonId,
  clientId: ClientId,
): Promise<Schemas["SignInExplanation"]> =>
  bodyOf(
    api.GET("/admin/v1/people/{personId}/sign-in-explanation", {
      params: { path: { personId }, query: { app: clientId } },
    }),
  );

type ViewAsked = {
  clientId: ClientId;
  schoolId: SchoolId;
  resource: Schemas["AppViewResource"];
  id: string | undefined;
  showDeleted: boolean;
};

export const getAppView = (
  { api }: Remote,
  { clientId, schoolId, resource, id, showDeleted }: ViewAsked,
): Promise<Schemas["AppView"]> => {
  const query = { resource, ...given({ id, "show-deleted": showDeleted || undefined }) };
  const params = { path: { schoolId, clientId }, query };
  return bodyOf(api.GET("/admin/v1/schools/{schoolId}/apps/{clientId}/view", { params }));
};
