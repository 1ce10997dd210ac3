declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type SchoolId = Branded<"SchoolId">;
export type PersonId = Branded<"PersonId">;
export type GroupId = Branded<"GroupId">;
