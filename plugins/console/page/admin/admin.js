import './style.js'
import { html } from '../controls/html.js'
import { AuditTrail } from './audit/audit.js'
import { ConsentPage } from './consents/consent.js'
import { Consents } from './consents/consents.js'
import { Decisions } from './decisions/decisions.js'
import { Overview } from './overview/overview.js'
import { linkToAdmin } from './parts/query.js'
import { UserPage } from './people/user.js'
import { Users } from './people/users.js'
import { SettingsScreen } from './settings/settings.js'
import { Teams } from './teams/teams.js'
import { AllTokens } from './tokens/all-tokens.js'
import { AdminUsage } from './usage/usage.js'
import { w } from './words/words.js'

/** @typedef {'overview' | 'users' | 'teams' | 'tokens' | 'usage' | 'audit' | 'decisions' | 'consents' | 'settings'} Section */
/** @type {readonly Section[]} */
const sections = ['overview', 'users', 'teams', 'tokens', 'usage', 'audit', 'decisions', 'consents', 'settings']

/**
 * The operators' screens. The page imports this module when an admin opens one of them.
 * @param {{ parts: readonly string[] }} props the route below `admin`
 */
export const Admin = ({ parts: [part, id] }) => {
  const section = sections.find((one) => one === part) ?? 'overview'
  return html`
    <nav class="tabs" aria-label=${w.sections.label}>
    ${sections.map((one) => html`<a key=${one} href=${linkToAdmin([one])} aria-current=${one === section ? 'page' : undefined}>${w.sections[one]}</a>`)}
    </nav>
    ${section === 'overview' && html`<${Overview} />`}
    ${section === 'users' && (id ? html`<${UserPage} key=${id} id=${id} />` : html`<${Users} />`)}
    ${section === 'teams' && html`<${Teams} />`}
    ${section === 'tokens' && html`<${AllTokens} />`}
    ${section === 'usage' && html`<${AdminUsage} />`}
    ${section === 'audit' && html`<${AuditTrail} />`}
    ${section === 'decisions' && html`<${Decisions} part=${id} />`}
    ${section === 'consents' && (id ? html`<${ConsentPage} key=${id} id=${id} />` : html`<${Consents} />`)}
    ${section === 'settings' && html`<${SettingsScreen} />`}
  `
}
