#include "server/core/result.h"
