import type { ClientId } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import { present } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import type { Reach } from "../../staff/index.ts";
import { findFigures, type FigureStep, type Subject } from "../../traffic/index.ts";
import { answerRecord } from "../change.ts";
import type { AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { refuseOthersApp, refuseUnknownSchool } from "../reached.ts";
import { invalidRequest, readTime } from "../query.ts";

const steps: Record<Schemas["FigureStep"], FigureStep> = { hour: "HOUR", day: "DAY" };
const days = { hour: { most: 15, usual: 1 }, day: { most: 732, usual: 30 } };

type Query = AdminRequest<"getFigures">["query"];

function readSpan({ from, until, step = "hour" }: Query, now: Date): { from: Date; until: Date } {
  const end = readTime(until) ?? now;
  const start = readTime(from) ?? addDays(end, -days[step].usual);
  if (start >= end) throw invalidRequest("The query parameter until must be later than from.");
  if (start < addDays(end, -days[step].most)) throw invalidRequest(`A request covers at most ${days[step].most} days.`);
  return { from: start, until: end };
}

const ofSchool = (id: string): Subject => `school:${id}`;
const ofApp = (id: string): Subject => `app:${id}`;

/** The subjects of a caller who names neither an app nor a school. */
function subjectsOf({ all, schoolIds, clientIds }: Reach): Subject[] {
  if (all) return [""];
  return schoolIds.size > 0 ? [...schoolIds].map(ofSchool) : [...clientIds].map(ofApp);
}

export const getFigures: AdminHandler<"getFigures"> = async ({ db }, { query, reach, origin }) => {
  const { metric, step = "hour", school, app } = query;
  if (school !== undefined) await refuseUnknownSchool(storeOf(db), reach, school as SchoolId);
  const clientId = app as ClientId | undefined;
  if (clientId !== undefined) await refuseOthersApp(db.pool, reach, clientId);
  if (school !== undefined && app !== undefined) throw invalidRequest("Figures are of a school or of an app.");
  const span = readSpan(query, origin.at);
  const named = [...(school === undefined ? [] : [ofSchool(school)]), ...(app === undefined ? [] : [ofApp(app)])];
  const subjects = named.length > 0 ? named : subjectsOf(reach);
  const points = await findFigures(db.pool, { metric, step: steps[step], subjects, ...span });
  const body = present<Schemas["Figures"]>({
    metric,
    step,
    ...span,
    points: points.map((point) => present<Schemas["FigurePoint"]>(point)),
  });
  return answerRecord(body);
};
