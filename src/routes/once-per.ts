/** What is made of an object that does not change: once, for as long as the object lives. */
export const oncePer = <Of extends object, Made>(make: (of: Of) => Made): ((of: Of) => Made) => {
  const kept = new WeakMap<Of, Made>()
  return (of) => {
    let made = kept.get(of)
    if (made === undefined) {
      made = make(of)
      kept.set(of, made)
    }
    return made
  }
}
