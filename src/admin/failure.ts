import type { AppError } from "../platform/errors.ts";
import {
  presentProblem,
  requestIdOf,
  sendProblem,
  type ProblemType,
  type RenderFailure,
} from "../platform/http/index.ts";
import { StaleRecord } from "./change.ts";
import { present, type Schemas } from "./handler.ts";

/** The property that an error concerns, whatever operation it refuses. */
const propertyOf: Readonly<Record<string, string>> = {
  agreement_version_taken: "version",
  app_name_taken: "name",
  client_id_refused: "clientId",
  client_id_retired: "clientId",
  client_id_taken: "clientId",
  cut_over_passed: "cutOverAt",
  default_scopes_refused: "defaultScopes",
  erasures_refused: "confirmsErasures",
  exemption_date: "until",
  holds_not_confirmed: "confirmHolds",
  hours_invalid: "hours/to",
  letter_placeholder_unknown: "text",
  letter_too_long: "text",
  link_name_taken: "linkName",
  merged_with_itself: "intoSchoolId",
  move_to_same_school: "toSchoolId",
  official_id_taken: "officialId",
  overlap_too_long: "overlapHours",
  public_key_refused: "publicKeys",
  received_on_refused: "receivedOn",
  role_end_past: "endsAt",
  role_end_required: "endsAt",
  role_reason_required: "reason",
  role_too_long: "endsAt",
  roster_scopes_refused: "scopes",
  scope_platform_refused: "scopePlatform",
  sector_refused: "sector",
  source_system_identifier_taken: "sourceSystemIdentifier",
  username_refused: "username",
  username_taken: "username",
  webhook_url_refused: "url",
  webhook_without_event_type: "eventTypes",
  zip_code_malformed: "address/zipCode",
};

function withFaults(failure: AppError) {
  const { status, code, message, faults } = failure;
  const property = propertyOf[code];
  if (faults.length > 0 || property === undefined) return failure;
  return { status, code, message, faults: [{ pointer: `/${property}`, rule: code, message }] };
}
type PreconditionProblem = Schemas["PreconditionProblem"];

const presentStale = (failure: StaleRecord, context: { typeOf: ProblemType; requestId: string }): PreconditionProblem =>
  present("PreconditionProblem", {
    ...presentProblem(failure, context),
    current: failure.current && { ...failure.current },
  });

export const makeRenderProblem =
  (typeOf: ProblemType): RenderFailure =>
  (failure, res) => {
    const context = { typeOf, requestId: requestIdOf(res) };
    const body: Schemas["Problem"] | PreconditionProblem =
      failure instanceof StaleRecord ? presentStale(failure, context) : presentProblem(withFaults(failure), context);
    if (failure instanceof StaleRecord && failure.tag !== null) res.setHeader("ETag", failure.tag);
    sendProblem(res, body);
  };
