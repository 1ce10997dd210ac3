import { AppError, type ErrorKind } from "../platform/errors.ts";

type Refusal = readonly [kind: ErrorKind, code: string, message: string];

const refusals: Readonly<Record<string, Refusal>> = {
  school_pkey: ["conflict", "id_taken", "The id is taken."],
  person_pkey: ["conflict", "id_taken", "The id is taken."],
  group_pkey: ["conflict", "id_taken", "The id is taken."],
  school_official_id_key: ["conflict", "official_id_taken", "Another school has this official id."],
  person_home_school_id_source_system_identifier_key: [
    "conflict",
    "source_system_identifier_taken",
    "Another person whose home is this school has this identifier of the source system.",
  ],
  group_school_id_source_system_identifier_key: [
    "conflict",
    "source_system_identifier_taken",
    "Another group of this school has this identifier of the source system.",
  ],
  handover_person_pkey: [
    "conflict",
    "person_already_offered",
    "A pupil is in another open hand-over. Withdraw it first.",
  ],
  affiliation_sandbox_fkey: ["not_found", "school_not_found", "The school does not exist."],
  affiliation_pkey: ["conflict", "person_at_school", "The person is at this school already."],
  membership_pkey: ["conflict", "membership_exists", "The person is in the group already."],
  membership_person_id_school_id_fkey: ["conflict", "person_not_at_school", "The person is not at the group's school."],
  person_home_school_id_fkey: ["not_found", "school_not_found", "The school does not exist."],
  affiliation_school_id_fkey: ["not_found", "school_not_found", "The school does not exist."],
  group_school_id_fkey: ["not_found", "school_not_found", "The school does not exist."],
};

export async function write<T>(written: PromiseLike<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    const refusal = refusals[(error as { constraint?: string }).constraint ?? ""];
    throw refusal === undefined ? error : new AppError(refusal[0], refusal[1], refusal[2], undefined, { cause: error });
  }
}
