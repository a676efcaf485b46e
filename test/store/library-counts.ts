type Rows = readonly Readonly<Record<string, unknown>>[]

/** The rows of `library_counts` that differ from what they count, as `USER on ACCOUNT: counted … there are …`. */
export const wrongCounts = async (query: (text: string) => Promise<Rows>): Promise<readonly string[]> => {
  const counted = await query(`
    select user_id as "user", account, groups, assets
    from library_counts
    where groups <> 0
    or assets <> 0`)
  const existing = await query(`
    select groups.user_id as "user", coalesce(groups.account, '') as account, count(distinct groups.group_id) as groups,
      count(assets.id) as assets
    from groups
    left join assets on assets.group_id = groups.group_id and assets.deleted_at is null
    where groups.state = 'owned'
    group by groups.user_id, coalesce(groups.account, '')`)
  const [before, after] = [textsOf(counted), textsOf(existing)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) =>
    before.get(key) === after.get(key) ? [] : [`${key}: counted ${before.get(key)}, there are ${after.get(key)}`],
  )
}

const textsOf = (rows: Rows): ReadonlyMap<string, string> =>
  new Map(
    rows.map(({ user, account, groups, assets }) => [
      `${user} on ${account}`,
      `${groups} groups with ${assets} assets`,
    ]),
  )
