/// <reference path="./text-imports.d.ts" />

import accountAccess from '../page/account/access.js' with { type: 'text' }
import accountAccount from '../page/account/account.js' with { type: 'text' }
import accountConnect from '../page/account/connect.js' with { type: 'text' }
import accountInvitation from '../page/account/invitation.js' with { type: 'text' }
import accountLogin from '../page/account/login.js' with { type: 'text' }
import accountPrograms from '../page/account/programs.js' with { type: 'text' }
import accountSessions from '../page/account/sessions.js' with { type: 'text' }
import accountTokenForm from '../page/account/token-form.js' with { type: 'text' }
import accountTokenLimits from '../page/account/token-limits.js' with { type: 'text' }
import accountTokens from '../page/account/tokens.js' with { type: 'text' }
import accountWebhooks from '../page/account/webhooks.js' with { type: 'text' }
import accountWords from '../page/account/words.js' with { type: 'text' }
import assetsAsset from '../page/assets/asset.js' with { type: 'text' }
import assetsAssetList from '../page/assets/asset-list.js' with { type: 'text' }
import assetsAssetPage from '../page/assets/asset-page.js' with { type: 'text' }
import assetsAssetPicker from '../page/assets/asset-picker.js' with { type: 'text' }
import assetsAssetScreen from '../page/assets/asset-screen.js' with { type: 'text' }
import assetsAssetWatch from '../page/assets/asset-watch.js' with { type: 'text' }
import assetsAssets from '../page/assets/assets.js' with { type: 'text' }
import assetsCode from '../page/assets/code.js' with { type: 'text' }
import assetsGroup from '../page/assets/group.js' with { type: 'text' }
import assetsGroups from '../page/assets/groups.js' with { type: 'text' }
import assetsSelection from '../page/assets/selection.js' with { type: 'text' }
import assetsUses from '../page/assets/uses.js' with { type: 'text' }
import batchesAddresses from '../page/batches/addresses.js' with { type: 'text' }
import batchesBatch from '../page/batches/batch.js' with { type: 'text' }
import batchesBatchDetail from '../page/batches/batch-detail.js' with { type: 'text' }
import batchesBatchItems from '../page/batches/batch-items.js' with { type: 'text' }
import batchesBatchList from '../page/batches/batch-list.js' with { type: 'text' }
import batchesBatchScreen from '../page/batches/batch-screen.js' with { type: 'text' }
import batchesNewBatch from '../page/batches/new-batch.js' with { type: 'text' }
import batchesProgress from '../page/batches/progress.js' with { type: 'text' }
import batchesWords from '../page/batches/words.js' with { type: 'text' }
import chatChat from '../page/chat/chat.js' with { type: 'text' }
import chatComposer from '../page/chat/composer.js' with { type: 'text' }
import chatConversation from '../page/chat/conversation.js' with { type: 'text' }
import chatHistory from '../page/chat/history.js' with { type: 'text' }
import chatMarkdown from '../page/chat/markdown.js' with { type: 'text' }
import chatMarkdownView from '../page/chat/markdown-view.js' with { type: 'text' }
import chatMessage from '../page/chat/message.js' with { type: 'text' }
import chatPacedUpdates from '../page/chat/paced-updates.js' with { type: 'text' }
import chatStream from '../page/chat/stream.js' with { type: 'text' }
import chatWords from '../page/chat/words.js' with { type: 'text' }
import consentsConsent from '../page/consents/consent.js' with { type: 'text' }
import consentsConsentDialogs from '../page/consents/consent-dialogs.js' with { type: 'text' }
import consentsConsentFacts from '../page/consents/consent-facts.js' with { type: 'text' }
import consentsConsentScreen from '../page/consents/consent-screen.js' with { type: 'text' }
import consentsConsentUses from '../page/consents/consent-uses.js' with { type: 'text' }
import consentsWords from '../page/consents/words.js' with { type: 'text' }
import faceFace from '../page/face/face.js' with { type: 'text' }
import faceQrCode from '../page/face/qr-code.js' with { type: 'text' }
import faceVerification from '../page/face/verification.js' with { type: 'text' }
import sharesShare from '../page/shares/share.js' with { type: 'text' }
import sharesShareForm from '../page/shares/share-form.js' with { type: 'text' }
import sharesShares from '../page/shares/shares.js' with { type: 'text' }
import sharesWords from '../page/shares/words.js' with { type: 'text' }
import uploadsDroppedFiles from '../page/uploads/dropped-files.js' with { type: 'text' }
import uploadsUploadFile from '../page/uploads/upload-file.js' with { type: 'text' }
import uploadsUploadList from '../page/uploads/upload-list.js' with { type: 'text' }
import uploadsUploads from '../page/uploads/uploads.js' with { type: 'text' }
import usageBreakdown from '../page/usage/breakdown.js' with { type: 'text' }
import usageCsv from '../page/usage/csv.js' with { type: 'text' }
import usageKind from '../page/usage/kind.js' with { type: 'text' }
import usageLimits from '../page/usage/limits.js' with { type: 'text' }
import usageRange from '../page/usage/range.js' with { type: 'text' }
import usageReport from '../page/usage/report.js' with { type: 'text' }
import usageUsage from '../page/usage/usage.js' with { type: 'text' }
import usageWords from '../page/usage/words.js' with { type: 'text' }
import videosSaveResult from '../page/videos/save-result.js' with { type: 'text' }
import videosVideoDetail from '../page/videos/video-detail.js' with { type: 'text' }
import videosVideoEstimate from '../page/videos/video-estimate.js' with { type: 'text' }
import videosVideoFields from '../page/videos/video-fields.js' with { type: 'text' }
import videosVideoForm from '../page/videos/video-form.js' with { type: 'text' }
import videosVideoInputs from '../page/videos/video-inputs.js' with { type: 'text' }
import videosVideoList from '../page/videos/video-list.js' with { type: 'text' }
import videosVideoModels from '../page/videos/video-models.js' with { type: 'text' }
import videosVideoRequest from '../page/videos/video-request.js' with { type: 'text' }
import videosVideoScreen from '../page/videos/video-screen.js' with { type: 'text' }
import videosVideoTask from '../page/videos/video-task.js' with { type: 'text' }
import videosVideos from '../page/videos/videos.js' with { type: 'text' }

/** The modules of people's screens, by file name. */
export const screenModules: Readonly<Record<string, string>> = {
  'account/access.js': accountAccess,
  'account/account.js': accountAccount,
  'account/connect.js': accountConnect,
  'account/invitation.js': accountInvitation,
  'account/login.js': accountLogin,
  'account/programs.js': accountPrograms,
  'account/sessions.js': accountSessions,
  'account/token-form.js': accountTokenForm,
  'account/token-limits.js': accountTokenLimits,
  'account/tokens.js': accountTokens,
  'account/webhooks.js': accountWebhooks,
  'account/words.js': accountWords,
  'assets/asset-list.js': assetsAssetList,
  'assets/asset-page.js': assetsAssetPage,
  'assets/asset-picker.js': assetsAssetPicker,
  'assets/asset-screen.js': assetsAssetScreen,
  'assets/asset-watch.js': assetsAssetWatch,
  'assets/asset.js': assetsAsset,
  'assets/assets.js': assetsAssets,
  'assets/code.js': assetsCode,
  'assets/group.js': assetsGroup,
  'assets/groups.js': assetsGroups,
  'assets/selection.js': assetsSelection,
  'assets/uses.js': assetsUses,
  'batches/addresses.js': batchesAddresses,
  'batches/batch.js': batchesBatch,
  'batches/batch-detail.js': batchesBatchDetail,
  'batches/batch-items.js': batchesBatchItems,
  'batches/batch-list.js': batchesBatchList,
  'batches/batch-screen.js': batchesBatchScreen,
  'batches/new-batch.js': batchesNewBatch,
  'batches/progress.js': batchesProgress,
  'batches/words.js': batchesWords,
  'chat/chat.js': chatChat,
  'chat/composer.js': chatComposer,
  'chat/conversation.js': chatConversation,
  'chat/history.js': chatHistory,
  'chat/markdown-view.js': chatMarkdownView,
  'chat/markdown.js': chatMarkdown,
  'chat/message.js': chatMessage,
  'chat/paced-updates.js': chatPacedUpdates,
  'chat/stream.js': chatStream,
  'chat/words.js': chatWords,
  'consents/consent-dialogs.js': consentsConsentDialogs,
  'consents/consent-facts.js': consentsConsentFacts,
  'consents/consent-screen.js': consentsConsentScreen,
  'consents/consent-uses.js': consentsConsentUses,
  'consents/consent.js': consentsConsent,
  'consents/words.js': consentsWords,
  'face/face.js': faceFace,
  'face/qr-code.js': faceQrCode,
  'face/verification.js': faceVerification,
  'shares/share.js': sharesShare,
  'shares/share-form.js': sharesShareForm,
  'shares/shares.js': sharesShares,
  'shares/words.js': sharesWords,
  'uploads/dropped-files.js': uploadsDroppedFiles,
  'uploads/upload-file.js': uploadsUploadFile,
  'uploads/upload-list.js': uploadsUploadList,
  'uploads/uploads.js': uploadsUploads,
  'usage/breakdown.js': usageBreakdown,
  'usage/csv.js': usageCsv,
  'usage/kind.js': usageKind,
  'usage/limits.js': usageLimits,
  'usage/range.js': usageRange,
  'usage/report.js': usageReport,
  'usage/usage.js': usageUsage,
  'usage/words.js': usageWords,
  'videos/save-result.js': videosSaveResult,
  'videos/video-detail.js': videosVideoDetail,
  'videos/video-estimate.js': videosVideoEstimate,
  'videos/video-fields.js': videosVideoFields,
  'videos/video-form.js': videosVideoForm,
  'videos/video-inputs.js': videosVideoInputs,
  'videos/video-list.js': videosVideoList,
  'videos/video-models.js': videosVideoModels,
  'videos/video-request.js': videosVideoRequest,
  'videos/video-screen.js': videosVideoScreen,
  'videos/video-task.js': videosVideoTask,
  'videos/videos.js': videosVideos,
}
