import { ApiError } from '../../api/api-error.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { useLoaded } from '../../frame/hooks.js'
import { LimitSettings } from '../limits/limit-settings.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { linkToAdmin } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { Tokens } from '../tokens/tokens.js'
import { w } from '../words/words.js'
import { UserActions } from './user-actions.js'
import { UserLimits } from './user-limits.js'
import { UserBadges } from './users.js'

/** @typedef {import('./users.js').User} User */

/**
 * The page of a user.
 * @param {{ id: string }} props
 */
export const UserPage = ({ id }) => {
  const admin = useAdminApi()
  const loaded = useLoaded(
    async (signal) => {
      try {
        return { user: /** @type {User} */ ((await admin.read(pathWith`/users/${id}`, {}, signal)).user) }
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return { user: undefined }
        throw error
      }
    },
    [id],
  )
  const user = loaded.value?.user
  const replace = (/** @type {User} */ changed) => loaded.change(() => ({ user: changed }))
  return html`
    <a class="back" href=${linkToAdmin(['users'])}><${Icon} name="back" />${w.users.toList}</a>
    <div class="heading"><h1 tabindex="-1">${user?.name ?? (loaded.value ? w.users.unknown : w.sections.users)}</h1></div>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${loaded.value && !user && html`<${Empty} icon="person" title=${w.users.unknown}><p>${w.users.unknownHint}</p><//>`}
    ${
      user &&
      html`
        <${LimitSettings}>
          <${Profile} user=${user} onChange=${replace} />
          <${UserLimits} user=${user} onChange=${replace} />
          <${Tokens} user=${user} />
        <//>
      `
    }
  `
}

/** @param {{ user: User, onChange: (user: User) => void }} props */
const Profile = ({ user, onChange }) => html`
  <p class="lead"><${UserBadges} user=${user} /></p>
  <${UserActions} user=${user} onChange=${onChange} />
  <dl class="facts">
    <div><dt>${w.users.team}</dt><dd>${user.team ? html`<a href=${linkToAdmin(['users'], { team: user.team })}>${user.team_name}</a>` : w.users.noTeam}</dd></div>
    <div><dt>${w.users.login}</dt><dd>${w.users.logins[user.login]}</dd></div>
    <div><dt>${w.users.lastActive}</dt><dd><${Time} at=${user.last_active_at} fallback=${w.users.never} /></dd></div>
    <div><dt>${w.users.created}</dt><dd><${Time} at=${user.created_at} /></dd></div>
    ${user.disabled_at && html`<div><dt>${w.users.disabledSince}</dt><dd><${Time} at=${user.disabled_at} /></dd></div>`}
    ${user.external_id && html`<div><dt>${w.users.externalId}</dt><dd>${user.external_id}</dd></div>`}
    <div><dt>${w.users.id}</dt><dd><code>${user.id}</code></dd></div>
    <div>
      <dt>${w.user.actions}</dt>
      <dd class="sections-of-user">
        <a href=${linkToAdmin(['usage'], { user: user.id })}>${w.user.usage}</a>
        <a href=${linkToAdmin(['audit'], { user: user.id })}>${w.user.audit}</a>
        <a href=${linkToAdmin(['decisions', 'videos'], { user: user.id })}>${w.user.videos}</a>
        <a href=${linkToAdmin(['decisions', 'batches'], { user: user.id })}>${w.user.batches}</a>
      </dd>
    </div>
  </dl>
`
