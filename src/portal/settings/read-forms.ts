import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "../frame/index.ts";

type SignIn = AdminSchemas["SignInSettings"];
type Cards = AdminSchemas["CardSettingsInput"];

export function readSchool({ field }: PageRequest) {
  const address = { address: field("street"), city: field("city"), zipCode: field("zipCode") };
  return {
    name: field("name"),
    officialId: field("officialId"),
    schoolingLevel: field("schoolingLevel") || null,
    address: { ...address, addressAddition: field("addressAddition") || null },
  };
}

export const readSignIn = ({ field }: PageRequest): SignIn => ({
  userNameRule: field("userNameRule") as SignIn["userNameRule"],
  passwordKind: field("passwordKind") as SignIn["passwordKind"],
  mustChangePassword: field("mustChangePassword") === "on",
  ownPasswordFromGrade: field("ownPasswordFromGrade") === "" ? null : Number(field("ownPasswordFromGrade")) || 0,
  helpText: field("helpText") || null,
});

const numbersOf = (values: readonly string[] = []): number[] => values.map(Number);

/** No grade means everybody; no hour means always. */
export function readCards({ field, typed }: PageRequest): Cards {
  const [grades, weekdays] = [numbersOf(typed["grade"]), numbersOf(typed["weekday"])];
  const [from, to] = [field("from"), field("to")];
  const hasHours = from !== "" || to !== "";
  return {
    enabled: field("enabled") === "on",
    grades: grades.length === 0 ? null : grades,
    hours: hasHours ? { from, to, weekdays: weekdays.length === 0 ? [1, 2, 3, 4, 5, 6, 7] : weekdays } : null,
    networks: field("networks").split(/\s+/).filter(Boolean),
    secondStep: field("secondStep") as Cards["secondStep"],
    printSecondStep: field("printSecondStep") === "on",
  };
}
