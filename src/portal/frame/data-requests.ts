import type { AdminSchemas } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import { callName } from "./people.ts";
import type { PageRequest } from "./page-request.ts";
import type { Times } from "./zone.ts";

type DataRequest = AdminSchemas["DataRequest"];
type Writing = { t: Translate; times: Pick<Times, "day" | "time"> };

/** Noon, so that the day is the same in every time zone of Europe. */
const dayText = (day: string, { times }: Writing): string => times.day(`${day}T12:00:00Z`);

function statusOf({ state, outcome, closedAt, closedBy, dueOn, daysLeft }: DataRequest, writing: Writing): string {
  const { t, times } = writing;
  if (state === "CLOSED") {
    const by = closedBy?.name ? `${closedBy.name.firstCall} ${closedBy.name.last}` : null;
    const role = closedBy === null || closedBy.role === "NONE" ? null : t(`staffRoles.${closedBy.role}`);
    const who = [by, role].filter((part) => part !== null).join(", ");
    const said = t(`frame.dataRequest.outcome.${outcome}`, { at: times.time(closedAt) });
    return who === "" ? said : `${said} (${who})`;
  }
  const left = daysLeft ?? 0;
  const key = left < 0 ? "overdue" : left === 0 ? "dueToday" : "due";
  return t(`frame.dataRequest.${key}`, { day: dayText(dueOn, writing), count: Math.abs(left) });
}

/** `status` says until when to answer or how the request ended, `export` whether the data was exported for it. */
export function describeDataRequest(request: DataRequest, writing: Writing) {
  const { t, times } = writing;
  const { askedBy, receivedOn, extension, extendedAt, exportedAt, state, daysLeft } = request;
  return {
    asker: t(`frame.dataRequest.askedBy.${askedBy}`),
    status: statusOf(request, writing),
    isOverdue: state === "OPEN" && (daysLeft ?? 0) < 0,
    history: [
      t("frame.dataRequest.received", { day: dayText(receivedOn, writing) }),
      ...(extension === "NONE" ? [] : [t(`frame.dataRequest.extended.${extension}`, { day: times.day(extendedAt) })]),
    ],
    export:
      exportedAt === null
        ? t("frame.dataRequest.notExported")
        : t("frame.dataRequest.exported", { at: times.time(exportedAt) }),
  };
}

/** What the partial `data-request` shows; `person` is null if nobody is to be named. */
export const viewDataRequest = (request: DataRequest, page: PageRequest) => ({
  ...request,
  ...describeDataRequest(request, page),
  fullName: request.person && callName(request.person, page),
  mayExtend: request.state === "OPEN" && request.extension === "NONE" && (request.daysLeft ?? 0) >= 0,
});

export const readDataRequest = ({ field }: PageRequest): AdminSchemas["DataRequestUpdate"] => {
  const [extension, outcome] = [field("extension"), field("outcome")];
  return (extension === "" ? { outcome } : { extension }) as AdminSchemas["DataRequestUpdate"];
};
