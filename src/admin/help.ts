/** The usage text of the commands. `program`: how the user has called them. */
export const helpOf = (program: string) => `usage: ${program} COMMAND
  user add NAME [--password PASSWORD] [--role user|admin] [--team TEAM] [--service] [--external-id ID]
                [--limits LIMITS] [--invite]
                                             prints the user's id; --service: tokens and no login; --invite: also a link
                                             with which its holder sets the password, within 72 hours
  user list [--search TEXT] [--role ROLE] [--team TEAM] [--state enabled|disabled] [--json]
  user show NAME                             prints a user as JSON
  user disable NAME                          ends sessions, tokens and streams within a second
  user enable NAME
  user password NAME --password PASSWORD
  user role NAME user|admin
  user team NAME TEAM|-                      puts a user into a team, or into none
  user change NAME [--name NEW] [--external-id ID|-]
  user limits NAME [LIMITS]                  prints or sets the limits of a user; null: those of all users
  user invite NAME                           prints a link with which its holder sets the password; the one before ends
  user logout NAME                           ends all sessions of a user
  team add NAME [--limits LIMITS]            prints the team's id
  team list [--json]
  team rename NAME NEW
  team limits NAME [LIMITS]
  team delete NAME                           deletes a team without members
  token add NAME [--label TEXT] [--expires ISO] [--scopes SCOPES] [--models MODELS] [--limits LIMITS]
                                             prints the token, once
  token list [NAME] [--search TEXT] [--state valid|expired|revoked] [--used-since ISO] [--unused-since ISO] [--json]
                                             of a user, or of all; TEXT: part of the label, or the beginning of a token;
                                             --unused-since: also those that were never used
  token change ID [--label TEXT|-] [--expires ISO|-] [--scopes SCOPES] [--models MODELS|-] [--limits LIMITS|-]
  token rotate ID [--overlap SECONDS]        prints a new secret; the old one works for SECONDS more (default 0)
  token revoke ID
  group adopt NAME GROUP_ID --type AIGC|LivenessFace --name TEXT [--account ACCOUNT]
                                             gives an existing upstream group to a user; --account: the one of
                                             MEDIA_UPSTREAMS that has it (default: the first)
  group pending [--json]                     lists group creations and renames whose outcome is unknown
  group release ID                           deletes one of them
  consent list [--state withdrawn] [--json]  lists the consents of persons: group, owner, status, and times
  consent show GROUP_ID                      prints the consent of the person of a group as JSON
  consent withdraw GROUP_ID                  withdraws it for the person: nothing new is made with the group
  consent delete GROUP_ID                    withdraws it, and has the group, its assets and the videos made with them
                                             deleted; the server does that in the background
  consent export GROUP_ID                    prints it and its uses as one signed document
  consent keys                               prints the public keys that verify such documents, one a line
  account first [NAME]                       prints or changes which account of MEDIA_UPSTREAMS must be the first: change it
                                             only when that account has got another name
  video list [--user NAME] [--status STATUS|undecided] [--json]
                                             lists video tasks: id, user, status, phase, model, creation, the upstream's
                                             id, and a code; undecided: those of which nobody knows what their create
                                             call has made (create_outcome_unknown), and those that run for too long
                                             (running_too_long)
  video adopt ID --upstream-id UPSTREAM_ID   decides that an undecided task is that task of the upstream
  video release ID                           gives an undecided task up: it fails
  batch list [--user NAME] [--state running] [--json]
                                             lists batches of assets: id, user, group, times, and the number of items in
                                             each state
  batch cancel ID                            cancels the items of a batch that wait; what has been created stays
  usage [NAME] [--since DATE] [--until DATE] [--team TEAM] [--token ID] [--model MODEL] [--kind text|video]
        [--group-by day,user,team,token,model] [--json | --csv]
                                             sums calls, tokens and cost, by user, token, model and day (UTC) unless
                                             --group-by says otherwise
  import users FILE.csv                      adds the users of a CSV file with the columns name,role,team,external_id:
                                             all of them, or none if a line is wrong; prints their ids and names
  audit [--user NAME] [--action A] [--since ISO] [--until ISO]
                                             prints who did what, when and from where, as one JSON object per line
  audit verify [FILE] [--head NUMBER:HMAC]   verifies the HMACs of the trail, or of a file that 'audit' has printed
                                             without options; --head: an earlier head, which must still be in it
  upstreams [--json]                         prints each upstream, its rate limits, and the slots of video tasks with their
                                             users, running and waiting; the calls of a server are at
                                             /api/admin/upstreams
  settings [--json]                          prints the settings in the environment of this command, by variable; of a
                                             secret only set or unset
  --version                                  prints the version
With PASSWORD -, the password is read from standard input. It has at least 12 characters, or 8 of three kinds.
LIMITS is a JSON list, such as '[{"unit":"cost","amount":10,"window":"month"}]'. SCOPES and MODELS are separated by commas.
ISO is a date (2030-01-31), or a date and time, in UTC unless it has an offset. DATE is a day; both days are included.
--json prints one JSON object per line.`
