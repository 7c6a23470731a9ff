// Names of tables. A hub tells equal tables of different halls apart by numbers above 1000, and names their halls.

let halls = [];

/** Sets the halls, as {base, name, named}. Returns whether they have changed. */
export function setHalls(news = []) {
  const changed = JSON.stringify(news) !== JSON.stringify(halls);
  halls = news;
  return changed;
}

/** The hall that has a table as its own, as {base, name, named}; null if tables are numbered across all halls. */
export function hallOf(number) {
  return halls.find(({ base }) => number > base && number < base + 1000) ?? null;
}

/** Number of a table in its hall, as it is on the table itself. */
export function ownNumber(number) {
  return number - (hallOf(number)?.base ?? 0);
}

/** Name of a table: its number, after the name of its hall if the hall has it as its own. */
export function tableName(number) {
  const hall = hallOf(number);
  return hall ? `${hall.name} ${number - hall.base}` : String(number);
}
