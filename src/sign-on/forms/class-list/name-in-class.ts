type Name = { first: string; last: string };

const short = ({ first, last }: Name): string => `${first} ${Array.from(last)[0] ?? ""}.`;

/** The first name and the initial of the family name; the whole family name where both are those of another pupil. */
export function nameInClass(pupil: Name, all: readonly Name[]): string {
  const name = short(pupil);
  return all.filter((one) => short(one) === name).length > 1 ? `${pupil.first} ${pupil.last}` : name;
}
