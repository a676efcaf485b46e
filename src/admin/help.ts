/** The usage text of the commands. `program`: how the user has called them. */
export const helpOf = (program: string) => `usage: ${program} COMMAND
  user add NAME [--password PASSWORD]        prints the user's id; without a password there is no web login
  user list
  user disable NAME
  user enable NAME
  user password NAME --password PASSWORD
  token add NAME [--label TEXT] [--expires ISO]
                                             prints the token, once
  token list [NAME]
  token revoke ID
  group adopt NAME GROUP_ID --type AIGC|LivenessFace --name TEXT
                                             gives an existing upstream group to a user
  group pending                              lists group creations and renames whose outcome is unknown
  group release ID                           deletes one of them
  video list [--user NAME] [--status STATUS | --status undecided]
                                             lists video tasks: id, user, status, phase, model, creation, the upstream's id,
                                             and a code; undecided: those of which nobody knows what their create call has
                                             made (create_outcome_unknown), and those that run for too long (running_too_long)
  video adopt ID --upstream-id UPSTREAM_ID   decides that an undecided task is that task of the upstream
  video release ID                           gives an undecided task up: it fails
  usage [NAME] [--since DATE] [--until DATE] [--json | --csv]
                                             lists the calls, tokens and cost of text generation
                                             by user, token, model and day (UTC)
  audit [--user NAME] [--action A] [--since ISO] [--until ISO]
                                             prints who did what, when and from where, as one JSON object per line
  audit verify [FILE] [--head NUMBER:HMAC]   verifies the HMACs of the trail, or of a file that 'audit' has printed
                                             without options; --head: an earlier head, which must still be in it
With PASSWORD -, the password is read from standard input. ISO is a date (2030-01-31), or a date and time, in UTC unless it has an offset.
DATE is a day; both days are included.`
