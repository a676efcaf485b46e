import { html } from '../controls/html.js'
import { formatNumber, formatTime, parseTime } from '../words/format.js'
import { t } from './words.js'

/** @typedef {import('./consent.js').Consent} Consent */
/** @typedef {import('./consent.js').Act} Act */

/** Which badge a status has. @type {Record<Consent['Status'], string>} */
const badges = { active: 'Active', withdrawn: 'Failed', deleting: 'Processing', deleted: '' }

/**
 * What a consent says: who was verified, when, and who has ended it.
 * @param {{ consent: Consent, user: string }} props `user`: id of the present user
 */
export const ConsentFacts = ({ consent, user }) => {
  const { Status: status, Invitation: invitation, VerifyTime, LastUseTime, Withdrawal, Deletion } = consent
  return html`
    <p class="hint status-line" role="status"><span class=${`badge ${badges[status]}`}>${t.consents.states[status]}</span><span>${t.consents.effects[status]}</span></p>
    <dl class="facts">
      <${Fact} name=${t.consents.verified}><${At} time=${VerifyTime} fallback=${t.consents.verifiedUnknown} /><//>
      ${
        invitation
          ? html`
              <${Fact} name=${t.consents.invited}><${At} time=${invitation.Time} /><//>
              <${Fact} name=${t.consents.invitedBy}>${invitation.User === user ? t.consents.you : html`<code>${invitation.User}</code>`}<//>
            `
          : html`<${Fact} name=${t.consents.invited}>${t.consents.notInvited}<//>`
      }
      <${Fact} name=${t.consents.lastUse}><${At} time=${LastUseTime} fallback=${t.consents.neverUsed} /><//>
      ${Withdrawal && html`<${Fact} name=${t.consents.withdrawn}><${At} time=${Withdrawal.Time} /> ${actorOf(Withdrawal, user)}<//>`}
      ${
        Deletion &&
        html`
          <${Fact} name=${t.consents.deletion}><${At} time=${Deletion.Time} /> ${actorOf(Deletion, user)}<//>
          <${Fact} name=${t.consents.deleted}>${t.consents.deletedCounts(formatNumber(Deletion.Results), formatNumber(Deletion.Assets))}<//>
          <${Fact} name=${t.consents.groupGone}><${At} time=${Deletion.GroupTime} fallback=${status === 'deleted' ? t.consents.groupKept : t.consents.states.deleting} /><//>
        `
      }
    </dl>
  `
}

/** @param {Act} act @param {string} user */
const actorOf = ({ By, User, LinkFrom }, user) => {
  const { by } = t.consents
  if (By === 'admin') return by.admin
  if (By === 'owner') return User === user ? by.you : by.owner(User ?? '')
  if (LinkFrom === undefined) return by.person
  return LinkFrom === user ? by.ownLink : by.otherLink(LinkFrom)
}

/** @param {{ name: string, children?: unknown }} props */
const Fact = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`

/** @param {{ time: string | undefined, fallback?: string }} props */
const At = ({ time: text, fallback = '–' }) => {
  const time = parseTime(text)
  return time ? html`<time datetime=${time.toISOString()}>${formatTime(time)}</time>` : fallback
}
