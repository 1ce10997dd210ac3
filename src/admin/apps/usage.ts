import * as access from "../../access/index.ts";
import type { BySchoolFilter, ClientId, SchoolPosition } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest } from "../handler.ts";
import { invalidRequest } from "../page.ts";
import { refuseOtherFilter } from "./grants.ts";

type UsageRequest = Pick<AdminRequest<"listSeats">, "reach" | "page"> & {
  query: { school?: SchoolId | undefined; app?: ClientId | undefined };
};
type CountedRow = { place: string; schoolId: SchoolId; clientId: ClientId };
type Range = BySchoolFilter & { after: SchoolPosition | undefined };

/** Answers with what is counted by app and school, as far as the caller reaches. */
async function answerBySchool<Counts extends CountedRow, Given, Presented>(
  { db }: Pick<AdminDeps, "db">,
  { query, reach, page }: UsageRequest,
  asked: { list: (db: Queryable, given: Given & Range) => Promise<Counts[]>; given: Given },
  presentOne: (counts: Counts) => Presented,
) {
  const filter = { schoolId: query.school, clientId: query.app };
  await refuseOtherFilter({ db }, reach, filter);
  const counts = await asked.list(db.pool, {
    ...asked.given,
    ...filter,
    amongSchools: reach.all ? null : [...reach.schoolIds],
    amongApps: reach.all ? null : [...reach.clientIds],
    limit: page.range.limit,
    after: page.position<SchoolPosition>(),
  });
  const positionOf = ({ place, schoolId, clientId }: Counts) => ({ place, lastSchool: schoolId, lastApp: clientId });
  return page.answer(counts, presentOne, positionOf);
}

export const listOpenErasures: AdminHandler<"listOpenErasures"> = async (deps, request) => {
  const { query, origin } = request;
  if (query.school === undefined && query.app === undefined) throw invalidRequest("Give school or app.");
  const filter = {
    now: origin.at,
    overdueBefore: addDays(origin.at, -deps.erasureOverdueDays),
    waitDays: deps.restoreWindowDays,
  };
  return answerBySchool(deps, request, { list: access.countErasures, given: filter }, (counts) =>
    present("OpenErasures", counts),
  );
};

const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

export const listSeats: AdminHandler<"listSeats"> = (deps, request) => {
  const { month = monthOf(request.origin.at) } = request.query;
  return answerBySchool(deps, request, { list: access.listSeats, given: { month: new Date(month) } }, (counts) =>
    present("Seats", { month, ...counts }),
  );
};

export const listAccessReports: AdminHandler<"listAccessReports"> = (deps, request) => {
  const { month = monthOf(request.origin.at) } = request.query;
  return answerBySchool(
    deps,
    request,
    { list: access.listAccessReports, given: { month: new Date(month) } },
    (counts) => present("AccessReportCounts", { month, ...counts }),
  );
};
