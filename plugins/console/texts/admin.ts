/// <reference path="./text-imports.d.ts" />

import adminAdmin from '../page/admin/admin.js' with { type: 'text' }
import adminAuditActions from '../page/admin/audit/actions.js' with { type: 'text' }
import adminAuditAudit from '../page/admin/audit/audit.js' with { type: 'text' }
import adminAuditVerification from '../page/admin/audit/verification.js' with { type: 'text' }
import adminConsentsConsent from '../page/admin/consents/consent.js' with { type: 'text' }
import adminConsentsConsents from '../page/admin/consents/consents.js' with { type: 'text' }
import adminConsentsKeys from '../page/admin/consents/keys.js' with { type: 'text' }
import adminDecisionsBatches from '../page/admin/decisions/batches.js' with { type: 'text' }
import adminDecisionsDecisions from '../page/admin/decisions/decisions.js' with { type: 'text' }
import adminDecisionsGroups from '../page/admin/decisions/groups.js' with { type: 'text' }
import adminDecisionsVideos from '../page/admin/decisions/videos.js' with { type: 'text' }
import adminLimitsLimit from '../page/admin/limits/limit.js' with { type: 'text' }
import adminLimitsLimitEditor from '../page/admin/limits/limit-editor.js' with { type: 'text' }
import adminLimitsLimitList from '../page/admin/limits/limit-list.js' with { type: 'text' }
import adminLimitsLimitReport from '../page/admin/limits/limit-report.js' with { type: 'text' }
import adminLimitsLimitSettings from '../page/admin/limits/limit-settings.js' with { type: 'text' }
import adminOverviewAlerts from '../page/admin/overview/alerts.js' with { type: 'text' }
import adminOverviewFigures from '../page/admin/overview/figures.js' with { type: 'text' }
import adminOverviewOverview from '../page/admin/overview/overview.js' with { type: 'text' }
import adminOverviewUpstreams from '../page/admin/overview/upstreams.js' with { type: 'text' }
import adminPartsAdminApi from '../page/admin/parts/admin-api.js' with { type: 'text' }
import adminPartsConfirm from '../page/admin/parts/confirm.js' with { type: 'text' }
import adminPartsFaults from '../page/admin/parts/faults.js' with { type: 'text' }
import adminPartsForm from '../page/admin/parts/form.js' with { type: 'text' }
import adminPartsList from '../page/admin/parts/list.js' with { type: 'text' }
import adminPartsQuery from '../page/admin/parts/query.js' with { type: 'text' }
import adminPartsSearchField from '../page/admin/parts/search-field.js' with { type: 'text' }
import adminPartsSecret from '../page/admin/parts/secret.js' with { type: 'text' }
import adminPartsTable from '../page/admin/parts/table.js' with { type: 'text' }
import adminPartsTeamsChoice from '../page/admin/parts/teams-choice.js' with { type: 'text' }
import adminPartsTime from '../page/admin/parts/time.js' with { type: 'text' }
import adminPartsUserPicker from '../page/admin/parts/user-picker.js' with { type: 'text' }
import adminPeopleImportUsers from '../page/admin/people/import-users.js' with { type: 'text' }
import adminPeopleNewUser from '../page/admin/people/new-user.js' with { type: 'text' }
import adminPeopleUser from '../page/admin/people/user.js' with { type: 'text' }
import adminPeopleUserActions from '../page/admin/people/user-actions.js' with { type: 'text' }
import adminPeopleUserLimits from '../page/admin/people/user-limits.js' with { type: 'text' }
import adminPeopleUsers from '../page/admin/people/users.js' with { type: 'text' }
import adminSettingsSettings from '../page/admin/settings/settings.js' with { type: 'text' }
import adminStyle from '../page/admin/style.js' with { type: 'text' }
import adminTeamsTeams from '../page/admin/teams/teams.js' with { type: 'text' }
import adminTokensAllTokens from '../page/admin/tokens/all-tokens.js' with { type: 'text' }
import adminTokensToken from '../page/admin/tokens/token.js' with { type: 'text' }
import adminTokensTokenDialogs from '../page/admin/tokens/token-dialogs.js' with { type: 'text' }
import adminTokensTokenForm from '../page/admin/tokens/token-form.js' with { type: 'text' }
import adminTokensTokenRows from '../page/admin/tokens/token-rows.js' with { type: 'text' }
import adminTokensTokens from '../page/admin/tokens/tokens.js' with { type: 'text' }
import adminUsageSums from '../page/admin/usage/sums.js' with { type: 'text' }
import adminUsageUsage from '../page/admin/usage/usage.js' with { type: 'text' }
import adminUsageUsagePlot from '../page/admin/usage/usage-plot.js' with { type: 'text' }
import adminWordsChinese from '../page/admin/words/chinese.js' with { type: 'text' }
import adminWordsEnConsents from '../page/admin/words/en/consents.js' with { type: 'text' }
import adminWordsEnLimits from '../page/admin/words/en/limits.js' with { type: 'text' }
import adminWordsEnPeople from '../page/admin/words/en/people.js' with { type: 'text' }
import adminWordsEnReports from '../page/admin/words/en/reports.js' with { type: 'text' }
import adminWordsEnShared from '../page/admin/words/en/shared.js' with { type: 'text' }
import adminWordsEnSystem from '../page/admin/words/en/system.js' with { type: 'text' }
import adminWordsEnglish from '../page/admin/words/english.js' with { type: 'text' }
import adminWordsWords from '../page/admin/words/words.js' with { type: 'text' }
import adminWordsZhConsents from '../page/admin/words/zh/consents.js' with { type: 'text' }
import adminWordsZhLimits from '../page/admin/words/zh/limits.js' with { type: 'text' }
import adminWordsZhPeople from '../page/admin/words/zh/people.js' with { type: 'text' }
import adminWordsZhReports from '../page/admin/words/zh/reports.js' with { type: 'text' }
import adminWordsZhShared from '../page/admin/words/zh/shared.js' with { type: 'text' }
import adminWordsZhSystem from '../page/admin/words/zh/system.js' with { type: 'text' }

/** The modules of the operators' screens, by file name. Only the page of an admin loads them. */
export const adminModules: Readonly<Record<string, string>> = {
  'admin/admin.js': adminAdmin,
  'admin/audit/actions.js': adminAuditActions,
  'admin/audit/audit.js': adminAuditAudit,
  'admin/audit/verification.js': adminAuditVerification,
  'admin/consents/consent.js': adminConsentsConsent,
  'admin/consents/consents.js': adminConsentsConsents,
  'admin/consents/keys.js': adminConsentsKeys,
  'admin/decisions/batches.js': adminDecisionsBatches,
  'admin/decisions/decisions.js': adminDecisionsDecisions,
  'admin/decisions/groups.js': adminDecisionsGroups,
  'admin/decisions/videos.js': adminDecisionsVideos,
  'admin/limits/limit-editor.js': adminLimitsLimitEditor,
  'admin/limits/limit-list.js': adminLimitsLimitList,
  'admin/limits/limit-report.js': adminLimitsLimitReport,
  'admin/limits/limit-settings.js': adminLimitsLimitSettings,
  'admin/limits/limit.js': adminLimitsLimit,
  'admin/overview/alerts.js': adminOverviewAlerts,
  'admin/overview/figures.js': adminOverviewFigures,
  'admin/overview/overview.js': adminOverviewOverview,
  'admin/overview/upstreams.js': adminOverviewUpstreams,
  'admin/parts/admin-api.js': adminPartsAdminApi,
  'admin/parts/confirm.js': adminPartsConfirm,
  'admin/parts/faults.js': adminPartsFaults,
  'admin/parts/form.js': adminPartsForm,
  'admin/parts/list.js': adminPartsList,
  'admin/parts/query.js': adminPartsQuery,
  'admin/parts/search-field.js': adminPartsSearchField,
  'admin/parts/secret.js': adminPartsSecret,
  'admin/parts/table.js': adminPartsTable,
  'admin/parts/teams-choice.js': adminPartsTeamsChoice,
  'admin/parts/time.js': adminPartsTime,
  'admin/parts/user-picker.js': adminPartsUserPicker,
  'admin/people/import-users.js': adminPeopleImportUsers,
  'admin/people/new-user.js': adminPeopleNewUser,
  'admin/people/user-actions.js': adminPeopleUserActions,
  'admin/people/user-limits.js': adminPeopleUserLimits,
  'admin/people/user.js': adminPeopleUser,
  'admin/people/users.js': adminPeopleUsers,
  'admin/settings/settings.js': adminSettingsSettings,
  'admin/style.js': adminStyle,
  'admin/teams/teams.js': adminTeamsTeams,
  'admin/tokens/all-tokens.js': adminTokensAllTokens,
  'admin/tokens/token-dialogs.js': adminTokensTokenDialogs,
  'admin/tokens/token-form.js': adminTokensTokenForm,
  'admin/tokens/token-rows.js': adminTokensTokenRows,
  'admin/tokens/token.js': adminTokensToken,
  'admin/tokens/tokens.js': adminTokensTokens,
  'admin/usage/sums.js': adminUsageSums,
  'admin/usage/usage-plot.js': adminUsageUsagePlot,
  'admin/usage/usage.js': adminUsageUsage,
  'admin/words/chinese.js': adminWordsChinese,
  'admin/words/en/consents.js': adminWordsEnConsents,
  'admin/words/en/limits.js': adminWordsEnLimits,
  'admin/words/en/people.js': adminWordsEnPeople,
  'admin/words/en/reports.js': adminWordsEnReports,
  'admin/words/en/shared.js': adminWordsEnShared,
  'admin/words/en/system.js': adminWordsEnSystem,
  'admin/words/english.js': adminWordsEnglish,
  'admin/words/words.js': adminWordsWords,
  'admin/words/zh/consents.js': adminWordsZhConsents,
  'admin/words/zh/limits.js': adminWordsZhLimits,
  'admin/words/zh/people.js': adminWordsZhPeople,
  'admin/words/zh/reports.js': adminWordsZhReports,
  'admin/words/zh/shared.js': adminWordsZhShared,
  'admin/words/zh/system.js': adminWordsZhSystem,
}
